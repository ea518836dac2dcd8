//! Trace and span ids: fixed-width bytes inside, lower-case hex outside. Tenants: names.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Why bytes or text are not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// OTLP fixes the width: 16 bytes for a trace, 8 for a span.
    #[error("{what} has {got} bytes, must have {want}")]
    Length {
        /// Which id.
        what: &'static str,
        /// Bytes that it has.
        got: usize,
        /// Bytes that it must have.
        want: usize,
    },
    /// The all-zero id means "no id" in W3C Trace Context.
    #[error("{what} is all zeros")]
    Zero {
        /// Which id.
        what: &'static str,
    },
    /// Text that is not hexadecimal.
    #[error("{what} is not hexadecimal")]
    Hex {
        /// Which id.
        what: &'static str,
    },
}

macro_rules! id {
    ($name:ident, $n:literal, $what:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name(#[cfg_attr(test, schemars(with = "String"))] pub [u8; $n]);

        impl $name {
            /// From wire bytes. The wrong width and the all-zero id are refused.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, IdError> {
                let id: [u8; $n] = bytes.try_into().map_err(|_| IdError::Length {
                    what: $what,
                    got: bytes.len(),
                    want: $n,
                })?;
                if id == [0; $n] {
                    return Err(IdError::Zero { what: $what });
                }
                Ok(Self(id))
            }

            /// From hex text of either case.
            pub fn from_hex(text: &str) -> Result<Self, IdError> {
                let bytes = hex::decode(text).map_err(|_| IdError::Hex { what: $what })?;
                Self::from_bytes(&bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut text = [0u8; $n * 2];
                hex::encode_to_slice(self.0, &mut text).map_err(|_| fmt::Error)?;
                f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
            }
        }

        /// As hex text.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(from)?;
                Self::from_hex(&text).map_err(D::Error::custom)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id!(TraceId, 16, "trace id", "The id of a trace: 16 bytes, not all zero.");
id!(SpanId, 8, "span id", "The id of a span: 8 bytes, not all zero.");

/// What the trace id of every run of an experiment begins with. A random id begins so once in 2^48; read as the time with
/// which some systems begin their ids it is in 2089. The other ten bytes tell the runs apart.
pub const EXPERIMENT_MARK: [u8; 6] = [0xe1, 0xab, 0x5e, 0x7a, 0xc7, 0x1d];

impl TraceId {
    /// Whether a run of an experiment was told to send its spans under it, so that it is none of production's.
    pub fn is_of_experiment(&self) -> bool {
        self.0.starts_with(&EXPERIMENT_MARK)
    }
}

/// Whose rows they are: a name that the configuration or a token gives. A copy is cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TenantId(#[cfg_attr(test, schemars(with = "String"))] Arc<str>);

impl TenantId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for TenantId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Equal and hashed like its name, so that a map of tenants can be asked with a text.
impl Borrow<str> for TenantId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for TenantId {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for TenantId {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl From<&str> for TenantId {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for TenantId {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl From<Arc<str>> for TenantId {
    fn from(name: Arc<str>) -> Self {
        Self(name)
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// As text.
impl Serialize for TenantId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TenantId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn only_the_mark_makes_a_trace_an_experiments() {
        let of = |text: &str| TraceId::from_hex(text).unwrap().is_of_experiment();
        assert!(of("e1ab5e7ac71d00000000000000000001"));
        assert!(!of("e1ab5e7ac71c00000000000000000001") && !of("0000e1ab5e7ac71d0000000000000001"));
    }

    #[test]
    fn a_tenant_is_written_and_found_as_its_name() {
        let tenant = TenantId::from("a \"b\"");
        assert_eq!(serde_json::to_string(&tenant).unwrap(), r#""a \"b\"""#);
        assert_eq!(serde_json::from_str::<TenantId>(r#""a \"b\"""#).unwrap(), tenant);
        assert_eq!(HashMap::from([(tenant, 7)]).get("a \"b\""), Some(&7));
    }
}
