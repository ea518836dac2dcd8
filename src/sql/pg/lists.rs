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
    use super::tight;

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
