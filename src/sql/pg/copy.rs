//! `COPY … TO STDOUT`: rows as text, CSV or binary.
//!
//! Rows are those of the query protocol, taken apart and written anew, so that a value has the same spelling in both.

use super::rewrite::EVERY;
use super::rows::{error, wire_error};
use crate::sql::SqlError;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use datafusion::sql::sqlparser::ast::{
    CopyLegacyCsvOption, CopyLegacyOption, CopyOption, CopySource, CopyTarget, Ident, Statement,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use pgwire::api::portal::Format;
use pgwire::api::results::FieldInfo;
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::data::DataRow;

/// What a binary copy begins with: a signature, no flags, no extension.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// What a binary copy ends with: a row of -1 columns.
const TRAILER: [u8; 2] = [0xff, 0xff];

/// A query whose rows go to the client in the form of COPY.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// The query.
    pub query: Statement,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Binary,
    Text(Marks),
    Csv(Marks),
}

/// How the text forms are written.
#[derive(Debug, Clone, PartialEq)]
struct Marks {
    delimiter: u8,
    null: String,
    header: bool,
    quote: u8,
    escape: u8,
    always_quoted: Vec<Ident>,
}

impl Copy {
    /// The copy that `statement` asks for; none if it is no copy to the client.
    ///
    /// # Errors
    /// Options that are not known or contradict each other.
    pub fn parse(statement: &Statement) -> PgWireResult<Option<Self>> {
        let Statement::Copy { source, to: true, target: CopyTarget::Stdout, options, legacy_options, .. } =
            statement
        else {
            return Ok(None);
        };
        let asked = Asked::read(options, legacy_options)?;
        Ok(Some(Self { query: query(source)?, form: asked.form()? }))
    }

    /// How the values of the query must be encoded.
    pub fn format(&self) -> Format {
        match self.form {
            Form::Binary => Format::UnifiedBinary,
            Form::Text(_) | Form::Csv(_) => Format::UnifiedText,
        }
    }

    /// The form as the protocol tells it: 1 is binary.
    pub fn code(&self) -> i8 {
        i8::from(self.form == Form::Binary)
    }
}

fn query(source: &CopySource) -> PgWireResult<Statement> {
    match source {
        CopySource::Query(query) => Ok(Statement::Query(query.clone())),
        CopySource::Table { table_name, columns } => {
            let names: Vec<String> = columns.iter().map(Ident::to_string).collect();
            let columns = if names.is_empty() { "*".to_owned() } else { names.join(", ") };
            let sql = format!("SELECT {columns} FROM {table_name}");
            let parsed = Parser::parse_sql(&PostgreSqlDialect {}, &sql);
            let mut parsed = parsed.map_err(|why| wire_error(&SqlError::syntax(&why)))?;
            parsed.pop().ok_or_else(|| error("42601", "COPY names no table".to_owned()))
        }
    }
}

/// What the options say, each at most once in effect: the last one counts.
#[derive(Default)]
struct Asked {
    format: String,
    delimiter: Option<char>,
    null: Option<String>,
    header: bool,
    quote: Option<char>,
    escape: Option<char>,
    always_quoted: Vec<Ident>,
}

impl Asked {
    fn read(options: &[CopyOption], legacy: &[CopyLegacyOption]) -> PgWireResult<Self> {
        let mut asked = Self { format: "text".to_owned(), ..Self::default() };
        for option in options {
            match option {
                CopyOption::Format(format) => asked.format = format.value.to_lowercase(),
                CopyOption::Delimiter(mark) => asked.delimiter = Some(*mark),
                CopyOption::Null(text) => asked.null = Some(text.clone()),
                CopyOption::Header(header) => asked.header = *header,
                CopyOption::Quote(mark) => asked.quote = Some(*mark),
                CopyOption::Escape(mark) => asked.escape = Some(*mark),
                CopyOption::ForceQuote(columns) => asked.always_quoted.clone_from(columns),
                CopyOption::Encoding(name) if is_utf8(name) => {}
                other => return Err(unknown(&other.to_string())),
            }
        }
        for option in legacy {
            match option {
                CopyLegacyOption::Binary => asked.format = "binary".to_owned(),
                CopyLegacyOption::Delimiter(mark) => asked.delimiter = Some(*mark),
                CopyLegacyOption::Null(text) => asked.null = Some(text.clone()),
                CopyLegacyOption::Header => asked.header = true,
                CopyLegacyOption::Csv(options) => asked.csv(options)?,
                other => return Err(unknown(&other.to_string())),
            }
        }
        Ok(asked)
    }

    fn csv(&mut self, options: &[CopyLegacyCsvOption]) -> PgWireResult<()> {
        self.format = "csv".to_owned();
        for option in options {
            match option {
                CopyLegacyCsvOption::Header => self.header = true,
                CopyLegacyCsvOption::Quote(mark) => self.quote = Some(*mark),
                CopyLegacyCsvOption::Escape(mark) => self.escape = Some(*mark),
                CopyLegacyCsvOption::ForceQuote(columns) => self.always_quoted.clone_from(columns),
                other => return Err(unknown(&other.to_string())),
            }
        }
        Ok(())
    }

    fn form(self) -> PgWireResult<Form> {
        let (is_csv, is_binary) = (self.format == "csv", self.format == "binary");
        if !is_csv && (self.quote.is_some() || self.escape.is_some() || !self.always_quoted.is_empty()) {
            return Err(error("0A000", "QUOTE, ESCAPE and FORCE_QUOTE are for COPY … CSV".to_owned()));
        }
        if is_binary && (self.header || self.delimiter.is_some() || self.null.is_some()) {
            return Err(error("42601", "HEADER, DELIMITER and NULL are not for COPY … BINARY".to_owned()));
        }
        let quote = mark(self.quote.unwrap_or('"'))?;
        let marks = Marks {
            delimiter: mark(self.delimiter.unwrap_or(if is_csv { ',' } else { '\t' }))?,
            null: self.null.unwrap_or_else(|| if is_csv { String::new() } else { "\\N".to_owned() }),
            header: self.header,
            quote,
            escape: self.escape.map_or(Ok(quote), mark)?,
            always_quoted: self.always_quoted,
        };
        match self.format.as_str() {
            "binary" => Ok(Form::Binary),
            "csv" => Ok(Form::Csv(marks)),
            "text" => Ok(Form::Text(marks)),
            other => Err(error("22023", format!("COPY format {other:?} is not known: text, csv or binary"))),
        }
    }
}

fn is_utf8(name: &str) -> bool {
    matches!(name.to_lowercase().as_str(), "utf8" | "utf-8" | "unicode")
}

fn mark(mark: char) -> PgWireResult<u8> {
    let byte = u8::try_from(mark).ok().filter(|b| b.is_ascii() && !matches!(b, b'\n' | b'\r'));
    byte.ok_or_else(|| error("0A000", format!("COPY takes one-byte marks only, not {mark:?}")))
}

fn unknown(option: &str) -> PgWireError {
    error("0A000", format!("COPY TO STDOUT has no option {option}"))
}

/// Writes rows in the form of a copy.
pub struct CopyRows<'a> {
    form: &'a Form,
    always_quoted: Vec<bool>,
    begun: bool,
}

impl<'a> CopyRows<'a> {
    /// For rows with the columns `fields`.
    ///
    /// # Errors
    /// If a column that is to be quoted is not there.
    pub fn new(copy: &'a Copy, fields: &[FieldInfo]) -> PgWireResult<Self> {
        let mut always_quoted = vec![false; fields.len()];
        if let Form::Csv(marks) = &copy.form {
            let is_every = marks.always_quoted.iter().any(|column| column.value == EVERY);
            always_quoted.fill(is_every);
            for column in marks.always_quoted.iter().filter(|column| column.value != EVERY) {
                let at = fields.iter().position(|field| field.name() == column.value);
                let at = at.ok_or_else(|| error("42703", format!("COPY has no column {column}")))?;
                always_quoted[at] = true;
            }
        }
        Ok(Self { form: &copy.form, always_quoted, begun: false })
    }

    /// The line of names, if one was asked for.
    pub fn head(&self, fields: &[FieldInfo]) -> Option<Bytes> {
        let (Form::Text(marks) | Form::Csv(marks)) = self.form else { return None };
        marks.header.then(|| {
            let names = fields.iter().map(|field| (Some(field.name().as_bytes()), false));
            self.line(marks, names)
        })
    }

    /// One row. In binary the first one carries the signature: clients expect both in one message.
    ///
    /// # Errors
    /// If the row is not whole.
    pub fn row(&mut self, row: &DataRow) -> PgWireResult<Bytes> {
        let marks = match self.form {
            Form::Binary => {
                let mut out = self.signature();
                out.put_i16(row.field_count);
                out.extend_from_slice(&row.data);
                return Ok(out.freeze());
            }
            Form::Text(marks) | Form::Csv(marks) => marks,
        };
        let values = values(&row.data)?;
        Ok(self.line(marks, values.into_iter().zip(self.always_quoted.iter().copied())))
    }

    /// What follows the last row.
    pub fn tail(&mut self) -> Option<Bytes> {
        (*self.form == Form::Binary).then(|| {
            let mut out = self.signature();
            out.extend_from_slice(&TRAILER);
            out.freeze()
        })
    }

    fn signature(&mut self) -> BytesMut {
        let mut out = BytesMut::new();
        if !self.begun {
            out.extend_from_slice(SIGNATURE);
        }
        self.begun = true;
        out
    }

    fn line<'v>(&self, marks: &Marks, values: impl Iterator<Item = (Option<&'v [u8]>, bool)>) -> Bytes {
        let mut out = BytesMut::new();
        let alone = self.always_quoted.len() == 1;
        for (at, (value, always)) in values.enumerate() {
            if at > 0 {
                out.put_u8(marks.delimiter);
            }
            match (value, self.form) {
                (None, _) => out.extend_from_slice(marks.null.as_bytes()),
                (Some(value), Form::Csv(_)) => csv(&mut out, marks, value, always, alone),
                (Some(value), _) => text(&mut out, marks, value),
            }
        }
        out.put_u8(b'\n');
        out.freeze()
    }
}

/// The values of a row, each a length and as many bytes; a negative length is NULL.
fn values(mut data: &[u8]) -> PgWireResult<Vec<Option<&[u8]>>> {
    let mut values = Vec::new();
    while data.len() >= 4 {
        let length = data.get_i32();
        values.push(match usize::try_from(length) {
            Err(_) => None,
            Ok(length) => {
                let (value, rest) = data.split_at_checked(length).ok_or_else(torn)?;
                data = rest;
                Some(value)
            }
        });
    }
    Ok(values)
}

fn torn() -> PgWireError {
    error("XX000", "a row is shorter than it says".to_owned())
}

fn text(out: &mut BytesMut, marks: &Marks, value: &[u8]) {
    for byte in value {
        let escaped = match byte {
            b'\\' => Some(b'\\'),
            b'\n' => Some(b'n'),
            b'\r' => Some(b'r'),
            b'\t' => Some(b't'),
            0x08 => Some(b'b'),
            0x0b => Some(b'v'),
            0x0c => Some(b'f'),
            other if *other == marks.delimiter => Some(*other),
            _ => None,
        };
        match escaped {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => out.put_u8(*byte),
        }
    }
}

fn csv(out: &mut BytesMut, marks: &Marks, value: &[u8], always: bool, alone: bool) {
    let special = |b: &u8| *b == marks.delimiter || *b == marks.quote || matches!(b, b'\n' | b'\r');
    // A text that is spelled like NULL is told apart by its quotes; a lone `\.` would end the data.
    let needed = value == marks.null.as_bytes() || (alone && value == b"\\.") || value.iter().any(special);
    if !always && !needed {
        out.extend_from_slice(value);
        return;
    }
    out.put_u8(marks.quote);
    for byte in value {
        if *byte == marks.quote || *byte == marks.escape {
            out.put_u8(marks.escape);
        }
        out.put_u8(*byte);
    }
    out.put_u8(marks.quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgwire::api::Type;
    use pgwire::api::results::FieldFormat;

    fn copy(sql: &str) -> PgWireResult<Option<Copy>> {
        Copy::parse(&Parser::parse_sql(&PostgreSqlDialect {}, sql).expect(sql)[0])
    }

    /// Rows of texts in the form that `options` ask for.
    fn written(options: &str, rows: &[&[Option<&str>]]) -> Vec<u8> {
        let copy = copy(&format!("COPY t TO STDOUT {options}")).expect(options).expect(options);
        let names = ["a", "b"].map(|n| FieldInfo::new(n.into(), None, None, Type::TEXT, FieldFormat::Text));
        let fields = &names[..rows.first().map_or(2, |row| row.len())];
        let mut encoder = CopyRows::new(&copy, fields).expect(options);
        let mut out = encoder.head(fields).unwrap_or_default().to_vec();
        for row in rows {
            let mut data = BytesMut::new();
            for value in *row {
                data.put_i32(value.map_or(-1, |v| v.len() as i32));
                data.extend_from_slice(value.unwrap_or_default().as_bytes());
            }
            out.extend(encoder.row(&DataRow::new(data, row.len() as i16)).expect(options));
        }
        out.extend(encoder.tail().unwrap_or_default());
        out
    }

    fn text_of(options: &str, rows: &[&[Option<&str>]]) -> String {
        String::from_utf8(written(options, rows)).expect("UTF-8")
    }

    #[test]
    fn text_escapes_what_separates() {
        let row: &[Option<&str>] = &[Some("a\tb\\c\nd"), None];
        assert_eq!(text_of("", &[row]), "a\\tb\\\\c\\nd\t\\N\n");
        assert_eq!(text_of("WITH (DELIMITER '|', NULL '-')", &[&[Some("a|b"), None]]), "a\\|b|-\n");
        assert_eq!(text_of("WITH (HEADER)", &[&[Some("1"), Some("2")]]), "a\tb\n1\t2\n");
    }

    #[test]
    fn csv_tells_null_from_an_empty_text() {
        assert_eq!(text_of("WITH CSV HEADER", &[&[None, Some("")]]), "a,b\n,\"\"\n");
        assert_eq!(text_of("(FORMAT 'csv')", &[&[Some("a,b"), Some("q\"q")]]), "\"a,b\",\"q\"\"q\"\n");
        assert_eq!(text_of("(FORMAT csv)", &[&[Some("\\.")], &[Some("x")]]), "\"\\.\"\nx\n");
        let forced = text_of("(FORMAT csv, FORCE_QUOTE (b), ESCAPE '\\')", &[&[Some("x"), Some("y\"")]]);
        assert_eq!(forced, "x,\"y\\\"\"\n");
        let all = text_of("(FORMAT csv, FORCE_QUOTE (\"*\"))", &[&[Some("x"), None], &[Some("1"), Some("")]]);
        assert_eq!(all, "\"x\",\n\"1\",\"\"\n");
    }

    #[test]
    fn binary_has_its_signature_once_and_with_the_first_row() {
        let one = written("WITH BINARY", &[&[Some("x"), None]]);
        let mut wanted = SIGNATURE.to_vec();
        wanted.extend([0, 2, 0, 0, 0, 1, b'x', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(one, wanted);
        assert_eq!(SIGNATURE.len(), 19);
        assert_eq!(written("(FORMAT BINARY)", &[]), [SIGNATURE, &TRAILER].concat());
    }

    #[test]
    fn only_copies_to_the_client_are_copies() {
        for sql in ["COPY t TO '/tmp/x'", "COPY t TO PROGRAM 'cat'", "COPY t FROM STDIN", "SELECT 1"] {
            assert!(matches!(copy(sql), Ok(None)), "{sql}");
        }
        let table = copy("COPY \"T\" (a, \"B\") TO STDOUT").expect("a copy").expect("a copy");
        assert_eq!(table.query.to_string(), "SELECT a, \"B\" FROM \"T\"");
        for sql in ["COPY t TO STDOUT (FORMAT parquet)", "COPY t TO STDOUT (FORMAT binary, HEADER)"] {
            assert!(copy(sql).is_err(), "{sql}");
        }
    }
}
