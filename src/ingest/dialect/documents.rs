//! Every shape of retrieved documents to one.

use super::fields::Fields;
use super::json::{at, number, open, text, text_at};
use crate::domain::document::Document;
use serde_json::{Map, Value as Json};

const LISTS: &[&str] = &[
    "documents",
    "retrieved_documents",
    "source_documents",
    "source_nodes",
    "docs",
    "results",
    "nodes",
    "matches",
    "chunks",
    "hits",
    "context",
    "output",
    "retrievalResults",
    "points",
    "data",
    "result",
];
const IDS: &[&str] =
    &["id", "document.id", "id_", "_id", "doc_id", "document_id", "chunk_id", "node_id", "uuid", "file_id"];
const IDS_IN_METADATA: &[&str] = &["id", "doc_id", "document_id", "chunk_id", "x-amz-bedrock-kb-chunk-id"];
const CONTENTS: &[&str] =
    &["content", "document.content", "page_content", "text", "document", "body", "chunk", "chunk_text"];
/// Where the text is in metadata that a vector store keeps it in.
const CONTENTS_IN_METADATA: &[&str] = &["text", "page_content", "content", "chunk_text"];
const SCORES: &[&str] = &[
    "score",
    "document.score",
    "relevance_score",
    "similarity",
    "similarity_score",
    "_score",
    "@search.rerankerScore",
    "@search.score",
    "distance",
];
const URIS: &[&str] = &[
    "uri",
    "doc_uri",
    "url",
    "source",
    "file_path",
    "file_name",
    "filename",
    "path",
    "location.s3Location.uri",
    "location.webLocation.url",
];
const METADATA: &[&str] = &["metadata", "document.metadata", "meta"];
/// Objects that hold the document itself, beside its score.
const INNER: &[&str] =
    &["node", "document", "doc", "payload", "_source", "kwargs", "properties", "entity", "fields"];
const KNOWN: &[&str] = &["type", "lc", "rank"];

/// The documents in `json`: a list, an object with one, or lists of pairs with a score. Texts in a list count as
/// documents, because only retrieval spans are asked.
pub(super) fn of_retrieval(json: &Json) -> Vec<Document> {
    ranked(list(json, 3).iter().filter_map(one).collect())
}

/// As [`of_retrieval`], but only if every element is surely a document: an object with a content and an id, score or
/// metadata. For spans that may have answered anything.
pub(super) fn of_anything(json: &Json) -> Vec<Document> {
    let items = list(json, 3);
    let documents: Vec<_> = items.iter().filter(|item| item.is_object()).filter_map(one).collect();
    let sure =
        |d: &Document| d.content.is_some() && (d.id.is_some() || d.score.is_some() || d.metadata.is_some());
    if documents.is_empty() || documents.len() != items.len() || !documents.iter().all(sure) {
        return Vec::new();
    }
    ranked(documents)
}

/// Documents flattened under `prefix`, as OpenInference writes them.
pub(super) fn flattened(fields: &Fields<'_>, prefix: &str) -> Vec<Document> {
    ranked(fields.elements(prefix).iter().filter_map(of_element).collect())
}

fn of_element(element: &Fields<'_>) -> Option<Document> {
    let mut document = Document {
        id: element.plain("document.id"),
        content: element.text("document.content").map(str::to_owned),
        score: element.get("document.score").and_then(|value| value.as_f64()),
        metadata: element.json("document.metadata").filter(Json::is_object),
        ..Document::default()
    };
    from_metadata(&mut document);
    (document != Document::default()).then_some(document)
}

/// Fills ids and scores that `documents` lack from `others`, where both hold the same texts in the same order.
pub(super) fn complete(documents: &mut [Document], others: Vec<Document>) {
    let same = documents.len() == others.len()
        && documents.iter().zip(&others).all(|(a, b)| a.content.is_some() && a.content == b.content);
    if same {
        for (document, other) in documents.iter_mut().zip(others) {
            document.id = document.id.take().or(other.id);
            document.score = document.score.or(other.score);
            document.uri = document.uri.take().or(other.uri);
        }
    }
}

fn list(json: &Json, depth: usize) -> Vec<Json> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    match open(json).into_owned() {
        // A batch of one query: a list that holds the list.
        Json::Array(items) if items.len() == 1 && items[0].is_array() && !is_pair(&items[0]) => {
            list(&items[0], depth)
        }
        Json::Array(items) => items,
        Json::Object(object) => columns(&object).unwrap_or_else(|| {
            LISTS.iter().find_map(|key| object.get(*key)).map(|inner| list(inner, depth)).unwrap_or_default()
        }),
        _ => Vec::new(),
    }
}

/// The answer of Chroma, which has columns: ids, texts, metadata and distances, each a list a query. None for anything else,
/// and for the answer to several queries.
fn columns(object: &Map<String, Json>) -> Option<Vec<Json>> {
    const NAMES: [(&str, &str); 3] =
        [("documents", "content"), ("metadatas", "metadata"), ("distances", "distance")];
    let column = |key: &str| match object.get(key)?.as_array()?.as_slice() {
        [Json::Array(only)] => Some(only.clone()),
        [Json::Array(_), ..] => None,
        values => Some(values.to_vec()),
    };
    let ids = column("ids")?;
    column("documents")?;
    let mut rows: Vec<Map<String, Json>> =
        ids.into_iter().map(|id| Map::from_iter([("id".to_owned(), id)])).collect();
    for (key, name) in NAMES {
        for (row, value) in rows.iter_mut().zip(column(key).unwrap_or_default()) {
            row.insert(name.to_owned(), value);
        }
    }
    Some(rows.into_iter().map(Json::Object).collect())
}

/// A pair of a document and its score.
fn is_pair(item: &Json) -> bool {
    matches!(item.as_array().map(Vec::as_slice), Some([_, Json::Number(_)]))
}

fn one(item: &Json) -> Option<Document> {
    match item {
        Json::String(content) => {
            let content = super::content::readable(content)?;
            Some(Document { content: Some(content.to_owned()), ..Document::default() })
        }
        Json::Array(pair) if is_pair(item) => {
            let score = pair.get(1).and_then(number)?;
            one(pair.first()?).map(|document| Document { score: document.score.or(Some(score)), ..document })
        }
        Json::Object(object) => of_object(item, object),
        _ => None,
    }
}

fn of_object(item: &Json, object: &Map<String, Json>) -> Option<Document> {
    let inner = INNER
        .iter()
        .find_map(|key| object.get(*key))
        .map(|inner| open(inner).into_owned())
        .filter(Json::is_object);
    let places = [Some(item), inner.as_ref()];
    let find = |keys: &[&str]| places.iter().flatten().find_map(|place| text_at_path(place, keys));
    let mut document = Document {
        id: find(IDS),
        uri: find(URIS),
        content: find(CONTENTS)
            .or_else(|| text(at(item, "content.text")?).map(str::to_owned))
            .or_else(|| in_pieces(item.get("content")?)),
        score: places.iter().flatten().find_map(|p| SCORES.iter().find_map(|path| number(place(p, path)?))),
        rank: None,
        metadata: places.iter().flatten().find_map(|p| {
            METADATA
                .iter()
                .map(|path| place(p, path))
                .find_map(|m| Some(open(m?).into_owned()).filter(Json::is_object))
        }),
        tenant: None,
    };
    if inner.is_none() {
        keep_the_rest(&mut document, object);
    }
    from_metadata(&mut document);
    (document.id.is_some() || document.content.is_some()).then_some(document)
}

/// The text of a content that is a list of pieces, as Genkit has it.
fn in_pieces(content: &Json) -> Option<String> {
    let pieces = content.as_array()?.iter().filter_map(|piece| text_at(piece, &["text"]));
    Some(pieces.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

/// A value by its key, which may itself hold a dot, or by its path.
fn place<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    json.get(path).filter(|value| !value.is_null()).or_else(|| at(json, path))
}

fn text_at_path(json: &Json, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match place(json, key)? {
        Json::Number(number) => Some(number.to_string()),
        other => text(other).map(str::to_owned),
    })
}

/// What no field has taken joins the metadata, so that nothing is lost.
fn keep_the_rest(document: &mut Document, object: &Map<String, Json>) {
    let taken = [IDS, CONTENTS, SCORES, METADATA, KNOWN].concat();
    let rest = object.iter().filter(|(key, value)| !taken.contains(&key.as_str()) && !value.is_null());
    let mut metadata = match document.metadata.take() {
        Some(Json::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    for (key, value) in rest {
        metadata.entry(key.clone()).or_insert_with(|| value.clone());
    }
    document.metadata = (!metadata.is_empty()).then_some(Json::Object(metadata));
}

fn from_metadata(document: &mut Document) {
    let Some(metadata) = &document.metadata else { return };
    document.id = document.id.take().or_else(|| text_at_path(metadata, IDS_IN_METADATA));
    document.uri = document.uri.take().or_else(|| text_at(metadata, URIS));
    document.content = document.content.take().or_else(|| text_at(metadata, CONTENTS_IN_METADATA));
    document.score = document.score.or_else(|| SCORES.iter().find_map(|key| number(metadata.get(*key)?)));
    document.tenant = text_at_path(metadata, &["tenant", "tenant_id"]);
}

fn ranked(mut documents: Vec<Document>) -> Vec<Document> {
    for (rank, document) in documents.iter_mut().enumerate() {
        document.rank = i32::try_from(rank).ok();
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_shape_gives_the_same_document() {
        let shapes = [
            json!([{"id": "d1", "score": 0.5, "content": "text", "metadata": {"source": "a.md"}}]),
            json!({"documents": [{"id": "d1", "score": 0.5, "page_content": "text", "metadata": {"source": "a.md"}, "type": "Document"}]}),
            json!([{"id": "d1", "text": "text", "meta": {"source": "a.md"}, "score": 0.5}]),
            json!([[{"id": "d1", "page_content": "text", "metadata": {"source": "a.md"}}, 0.5]]),
            json!([{"page_content": "text", "metadata": {"source": "a.md", "score": 0.5}, "id": "d1"}]),
            json!([{"node": {"id_": "d1", "text": "text", "metadata": {"source": "a.md"}}, "score": 0.5}]),
            json!([{"document.id": "d1", "document.content": "text", "document.score": 0.5, "document.metadata": "{\"source\":\"a.md\"}"}]),
            json!(
                "[{\"id\":\"d1\",\"score\":\"0.5\",\"content\":\"text\",\"metadata\":{\"source\":\"a.md\"}}]"
            ),
        ];
        for shape in shapes {
            let found = of_retrieval(&shape);
            assert_eq!(found.len(), 1, "{shape}");
            let d = &found[0];
            assert_eq!(
                (d.id.as_deref(), d.content.as_deref(), d.score),
                (Some("d1"), Some("text"), Some(0.5)),
                "{shape}"
            );
            assert_eq!((d.uri.as_deref(), d.rank), (Some("a.md"), Some(0)), "{shape}");
        }
    }

    #[test]
    fn what_vector_stores_answer_is_read() {
        let metadata = json!({"text": "text", "source": "a.md"});
        for answer in [
            json!({"matches": [{"id": "d1", "score": 0.5, "metadata": metadata}], "namespace": ""}),
            json!({"result": {"hits": [{"_id": "d1", "_score": 0.5, "fields": {"chunk_text": "text", "source": "a.md"}}]}}),
            json!({"ids": [["d1"]], "documents": [["text"]], "metadatas": [[{"source": "a.md"}]], "distances": [[0.5]]}),
            json!({"points": [{"id": "d1", "score": 0.5, "payload": {"text": "text", "source": "a.md"}}]}),
            json!({"hits": {"hits": [{"_id": "d1", "_score": 0.5, "_source": {"text": "text", "source": "a.md"}}]}}),
            json!([{"@search.score": 0.5, "id": "d1", "content": "text", "source": "a.md"}]),
            json!({"retrievalResults": [{"content": {"text": "text", "type": "TEXT"}, "score": 0.5,
                "location": {"type": "S3", "s3Location": {"uri": "a.md"}}, "metadata": {"x-amz-bedrock-kb-chunk-id": "d1"}}]}),
            json!({"data": [{"file_id": "d1", "filename": "a.md", "score": 0.5, "content": [{"type": "text", "text": "text"}]}]}),
            json!([{"uuid": "d1", "properties": {"content": "text", "source": "a.md"}, "metadata": {"distance": 0.5}}]),
            json!([[{"id": "d1", "distance": 0.5, "entity": {"text": "text", "source": "a.md"}}]]),
        ] {
            let found = of_retrieval(&answer);
            assert_eq!(found.len(), 1, "{answer}");
            let d = &found[0];
            let what = (d.id.as_deref(), d.content.as_deref(), d.score, d.uri.as_deref());
            assert_eq!(what, (Some("d1"), Some("text"), Some(0.5), Some("a.md")), "{answer}");
        }
        let two = json!({"ids": [["a", "b"]], "documents": [["one", null]], "distances": null});
        let found = of_retrieval(&two);
        assert_eq!((found.len(), found[1].id.as_deref(), found[1].rank), (2, Some("b"), Some(1)));
    }

    #[test]
    fn the_tenant_is_read_from_the_metadata() {
        let found = of_retrieval(
            &json!([{"id": "a", "tenant_id": "acme"}, {"id": "b", "metadata": {"tenant": "globex"}}]),
        );
        assert_eq!(found[0].tenant.as_deref(), Some("acme"));
        assert_eq!(found[1].tenant.as_deref(), Some("globex"));
    }

    #[test]
    fn only_sure_documents_are_taken_from_anything() {
        assert!(of_anything(&json!([{"city": "Paris", "temperature": 18}])).is_empty());
        assert!(of_anything(&json!(["a", "b"])).is_empty());
        assert!(of_anything(&json!([{"text": "a"}])).is_empty());
        assert_eq!(of_anything(&json!([{"text": "a", "score": 1}])).len(), 1);
    }

    #[test]
    fn python_reprs_are_no_documents() {
        assert!(
            of_retrieval(&json!(["<NodeWithScore(node=TextNode(id_=doc-returns), score=0.66)>"])).is_empty()
        );
    }
}
