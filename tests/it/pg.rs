//! As much of the PostgreSQL protocol as tests of the endpoint need, over any stream.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub struct Pg<S>(S);

impl<S: AsyncRead + AsyncWrite + Unpin> Pg<S> {
    /// Logs in. The error is what the server said.
    pub async fn login(stream: S, password: Option<&str>) -> Result<Self, String> {
        let mut pg = Pg(stream);
        let mut startup = 196_608i32.to_be_bytes().to_vec();
        startup.extend_from_slice(b"user\0me\0database\0groundline\0\0");
        pg.0.write_i32(startup.len() as i32 + 4).await.map_err(|e| e.to_string())?;
        pg.0.write_all(&startup).await.map_err(|e| e.to_string())?;
        loop {
            match pg.message().await {
                // AuthenticationCleartextPassword
                Some((b'R', body)) if body == [0, 0, 0, 3] => {
                    let password = password.ok_or("a password is asked for")?;
                    pg.send(b'p', format!("{password}\0").as_bytes()).await;
                }
                Some((b'E', body)) => return Err(String::from_utf8_lossy(&body).into_owned()),
                Some((b'Z', _)) => return Ok(pg),
                Some(_) => {}
                None => return Err("closed".to_owned()),
            }
        }
    }

    async fn send(&mut self, kind: u8, body: &[u8]) {
        self.0.write_u8(kind).await.unwrap();
        self.0.write_i32(body.len() as i32 + 4).await.unwrap();
        self.0.write_all(body).await.unwrap();
        self.0.flush().await.unwrap();
    }

    async fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let kind = self.0.read_u8().await.ok()?;
        let length = self.0.read_i32().await.ok()?;
        let mut body = vec![0; length as usize - 4];
        self.0.read_exact(&mut body).await.ok()?;
        Some((kind, body))
    }

    /// The columns of the answer, each with the number of its type, and how many rows there are; or the error.
    pub async fn columns(&mut self, sql: &str) -> Result<(Vec<(String, i32)>, usize), String> {
        self.send(b'Q', format!("{sql}\0").as_bytes()).await;
        let (mut columns, mut rows, mut error) = (Vec::new(), 0, None);
        while let Some((kind, body)) = self.message().await {
            match kind {
                b'T' => columns = described(&body),
                b'D' => rows += 1,
                b'E' => error = Some(String::from_utf8_lossy(&body).into_owned()),
                b'Z' => break,
                _ => {}
            }
        }
        error.map_or(Ok((columns, rows)), Err)
    }

    /// What `sql` answers with `values` for `$1`, `$2` …: the rows as texts, or the error.
    pub async fn rows(&mut self, sql: &str, values: &[&str]) -> Result<Vec<Vec<Option<String>>>, String> {
        let mut parse = vec![0];
        parse.extend_from_slice(sql.as_bytes());
        parse.extend_from_slice(&[0, 0, 0]);
        let mut bind = vec![0, 0, 0, 0];
        bind.extend_from_slice(&(values.len() as i16).to_be_bytes());
        for value in values {
            bind.extend_from_slice(&(value.len() as i32).to_be_bytes());
            bind.extend_from_slice(value.as_bytes());
        }
        bind.extend_from_slice(&[0, 0]);
        self.send(b'P', &parse).await;
        self.send(b'B', &bind).await;
        self.send(b'D', b"P\0").await;
        self.send(b'E', &[0, 0, 0, 0, 0]).await;
        self.send(b'S', &[]).await;
        let (mut rows, mut error) = (Vec::new(), None);
        while let Some((kind, body)) = self.message().await {
            match kind {
                b'D' => rows.push(cells(&body)),
                b'E' => error = Some(String::from_utf8_lossy(&body).into_owned()),
                b'Z' => break,
                _ => {}
            }
        }
        error.map_or(Ok(rows), Err)
    }

    /// Rows, rows of a copy, and errors as one text.
    pub async fn query(&mut self, sql: &str) -> String {
        self.send(b'Q', format!("{sql}\0").as_bytes()).await;
        let mut told = Vec::new();
        while let Some((kind, body)) = self.message().await {
            match kind {
                b'D' | b'E' | b'd' => told.push(String::from_utf8_lossy(&body).into_owned()),
                b'Z' => break,
                _ => {}
            }
        }
        told.join("\n")
    }
}

/// DataRow: a count, then each value with its length, which is -1 for NULL.
fn cells(body: &[u8]) -> Vec<Option<String>> {
    let (mut at, mut cells) = (2, Vec::new());
    while at < body.len() {
        let length = i32::from_be_bytes(body[at..at + 4].try_into().unwrap());
        at += 4;
        let value = usize::try_from(length).ok().map(|length| &body[at..at + length]);
        at += value.map_or(0, <[u8]>::len);
        cells.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
    }
    cells
}

/// RowDescription: a count, then for each column its name, six bytes, the number of its type and eight bytes.
fn described(body: &[u8]) -> Vec<(String, i32)> {
    let (mut at, mut columns) = (2, Vec::new());
    while at < body.len() {
        let end = at + body[at..].iter().position(|b| *b == 0).unwrap();
        let name = String::from_utf8_lossy(&body[at..end]).into_owned();
        let oid = i32::from_be_bytes(body[end + 7..end + 11].try_into().unwrap());
        columns.push((name, oid));
        at = end + 19;
    }
    columns
}

/// Asks for encryption: what the server answers is S for yes and N for no.
pub async fn asks_for_tls<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> u8 {
    stream.write_i32(8).await.unwrap();
    stream.write_i32(80_877_103).await.unwrap();
    stream.read_u8().await.unwrap()
}
