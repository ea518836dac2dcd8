//! The name of a slice: `service_name=shop, request_model=m`, empty for an alert without slices. In a margin all columns but one are
//! `*`: `service_name=*, request_model=m`.

/// Characters of a value that are kept.
pub(super) const MOST: usize = 120;

/// What stands for every value of a column.
pub(super) const EVERY: &str = "*";
/// How the value `*` is shown: it stands for itself alone.
pub(super) const STAR: &str = "\\*";

/// A value as the name has it: it goes into labels and messages, and a sender chooses it.
pub(super) fn shown(value: &str) -> String {
    if value == EVERY {
        return STAR.to_owned();
    }
    value.chars().filter(|c| !c.is_control()).take(MOST).collect()
}

/// The name of the slice with these columns and values, which are cut.
pub(super) fn name<'a>(parts: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let parts = parts.map(|(column, value)| format!("{column}={}", shown(value)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The name of the margin in which only the column number `kept` has its value.
pub(super) fn margin(parts: &[(&str, &str)], kept: usize) -> String {
    let parts = parts.iter().enumerate().map(|(at, (column, value))| {
        let value = if at == kept { shown(value) } else { EVERY.to_owned() };
        format!("{column}={value}")
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The value of each of `columns` in `name`; none if it is not a name of these columns. Where a value itself holds what
/// begins the next column, the first place counts.
pub(super) fn values<'a>(columns: &[String], name: &'a str) -> Option<Vec<&'a str>> {
    let (mut rest, mut values) = (name, Vec::new());
    for (at, column) in columns.iter().enumerate() {
        rest = rest.strip_prefix(column.as_str())?.strip_prefix('=')?;
        let end = match columns.get(at + 1) {
            Some(next) => rest.find(&format!(", {next}="))?,
            None => rest.len(),
        };
        values.push(&rest[..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_made() {
        let columns: Vec<String> = ["service_name", "request_model"].map(str::to_owned).into();
        for given in [["shop", "m"], ["", ""], ["a, b=c", "x, y"]] {
            let made = name(columns.iter().map(String::as_str).zip(given));
            assert_eq!(values(&columns, &made).unwrap(), given, "{made}");
        }
        let long = "\u{7}é".repeat(200);
        let made = name(std::iter::once(("tenant", long.as_str())));
        assert_eq!(values(&["tenant".to_owned()], &made).unwrap(), [shown(&long)]);
        assert_eq!(shown(&long).chars().count(), MOST);
        assert_eq!(values(&columns, "service_name=shop"), None);
        let parts = [("service_name", "*"), ("request_model", "m")];
        assert_eq!(values(&columns, &margin(&parts, 1)).unwrap(), [EVERY, "m"]);
        assert_eq!(values(&columns, &margin(&parts, 0)).unwrap(), [STAR, EVERY]);
        assert_eq!(values(&[], "").unwrap(), [""; 0]);
    }
}
