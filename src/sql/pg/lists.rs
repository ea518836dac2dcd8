//! Parameters that the library does not read as they come: lists in text, JSON, and UUIDs.
//!
//! PostgreSQL ignores spaces around the elements of `{"a", "b"}`; the library takes them for a part of the element. JSON is text
//! here, and in binary `jsonb` begins with the number of its version. A UUID is text here, too.

use bytes::Bytes;
use pgwire::api::Type;
use pgwire::messages::data::FORMAT_CODE_TEXT;
use pgwire::messages::extendedquery::Bind;
use uuid::Uuid;

/// Takes the spaces around elements out of the parameters of `message` that are lists in text; `types` are those of the
/// parameters.
pub fn tighten(message: &mut Bind, types: &[Type]) {
    let codes = message.parameter_format_codes.clone();
    for (place, (parameter, data_type)) in message.parameters.iter_mut().zip(types).enumerate() {
        // The names of lists begin so, as in PostgreSQL.
        if data_type.name().starts_with('_')
            && is_text(&codes, place)
            && let Some(text) = parameter
        {
            *parameter = Some(tight(text));
        }
    }
}

fn is_text(codes: &[i16], place: usize) -> bool {
    match codes {
        [] => true,
        [all] => *all == FORMAT_CODE_TEXT,
        each => each.get(place).is_none_or(|code| *code == FORMAT_CODE_TEXT),
    }
}

/// Takes the version out of the parameters of `message` that are `jsonb` in binary: what is left is text.
pub fn without_version(message: &mut Bind, types: &[Type]) {
    let codes = message.parameter_format_codes.clone();
    for (place, (parameter, data_type)) in message.parameters.iter_mut().zip(types).enumerate() {
        if *data_type == Type::JSONB
            && !is_text(&codes, place)
            && let Some(json) = parameter.as_ref().and_then(|json| json.strip_prefix(&[1]))
        {
            *parameter = Some(Bytes::copy_from_slice(json));
        }
    }
}

/// Spells the parameters of `message` that are `uuid` as PostgreSQL does: they are text here, and come in binary, without dashes or in
/// capitals.
pub fn spell_uuids(message: &mut Bind, types: &[Type]) {
    let codes = message.parameter_format_codes.clone();
    for (place, (parameter, data_type)) in message.parameters.iter_mut().zip(types).enumerate() {
        let read = |id: &Bytes| match is_text(&codes, place) {
            true => Uuid::try_parse_ascii(id).ok(),
            false => Uuid::from_slice(id).ok(),
        };
        if *data_type == Type::UUID
            && let Some(id) = parameter.as_ref().and_then(read)
        {
            *parameter = Some(Bytes::from(id.to_string()));
        }
    }
}

/// Takes the type `unknown` out of those that a client declares: some drivers say so of a NULL. As with 0, what stands beside the
/// parameter tells its type.
pub fn open_unknown(types: &mut [u32]) {
    for declared in types.iter_mut().filter(|declared| **declared == Type::UNKNOWN.oid()) {
        *declared = 0;
    }
}

/// Whether a parameter without a type is an object of JSON, which begins and ends as a list does.
pub fn is_object(value: &[u8]) -> bool {
    value.starts_with(b"{")
        && serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(value).is_ok()
}

fn tight(list: &[u8]) -> Bytes {
    let mut out: Vec<u8> = Vec::with_capacity(list.len());
    let (mut quoted, mut escaped) = (false, false);
    for byte in list {
        if !quoted && byte.is_ascii_whitespace() && matches!(out.last(), None | Some(b'{' | b',')) {
            continue;
        }
        if !quoted && matches!(byte, b',' | b'}') {
            while out.last().is_some_and(u8::is_ascii_whitespace) {
                out.pop();
            }
        }
        if *byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = *byte == b'\\' && !escaped;
        out.push(*byte);
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_no_list() {
        for object in [r#"{"a": {"b": [1]}}"#, "{}", "{\n}"] {
            assert!(is_object(object.as_bytes()), "{object}");
        }
        for other in [r#"{"a","b"}"#, "{1,2}", "{NULL}", "[1]", "", " {}", r#"{"a": 1"#] {
            assert!(!is_object(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn unknown_is_no_type() {
        let mut types = [23, 705, 0, 25];
        open_unknown(&mut types);
        assert_eq!(types, [23, 0, 0, 25]);
    }

    #[test]
    fn uuids_are_spelled_as_in_postgresql() {
        let id = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        let binary = Uuid::parse_str(id).unwrap().into_bytes().to_vec();
        for (code, sent, spelled) in [
            (1, binary, id),
            (0, b"A0EEBC999C0B4EF8BB6D6BB9BD380A11".to_vec(), id),
            (0, b"none".to_vec(), "none"),
        ] {
            let mut message = Bind::new(None, None, vec![code], vec![Some(sent.into())], vec![]);
            spell_uuids(&mut message, &[Type::UUID]);
            assert_eq!(message.parameters[0].as_deref(), Some(spelled.as_bytes()));
        }
    }

    #[test]
    fn spaces_count_in_quotes_only() {
        for (list, tightened) in [
            (r#"{"a", "b c" , d e }"#, r#"{"a","b c",d e}"#),
            (r#"{" a ", "q\" , "}"#, r#"{" a ","q\" , "}"#),
            ("{1, 2}", "{1,2}"),
            ("{}", "{}"),
        ] {
            assert_eq!(tight(list.as_bytes()), tightened.as_bytes(), "{list}");
        }
    }
}
