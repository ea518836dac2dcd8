//! The columns that a convention fills: written, read back, and replaced when a log record adds to a span.

use super::build::{double, int, json, text, text_at, texts};
use crate::domain::document::Document;
use crate::domain::message::{self, Message, ToolCall};
use crate::domain::span::{Dialect, Llm, Operation};
use crate::schema::columns::{LLM_COLUMNS, document_fields};
use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Float64Builder, Int32Builder, Int64Array, ListArray, RecordBatch,
    StringArray, StringBuilder, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Int64Type};
use arrow::error::ArrowError;
use serde_json::Value as Json;
use std::sync::Arc;

/// The columns of [`LLM_COLUMNS`], in that order.
pub fn llm_columns<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a Llm + Copy) -> Vec<ArrayRef> {
    vec![
        text(rows, |r| Some(get(r).dialect.as_str())),
        text(rows, |r| Some(get(r).operation.as_str())),
        text(rows, |r| get(r).provider.as_deref()),
        text(rows, |r| get(r).request_model.as_deref()),
        text(rows, |r| get(r).response_model.as_deref()),
        text(rows, |r| get(r).system_prompt.as_deref()),
        text(rows, |r| get(r).question.as_deref()),
        text(rows, |r| get(r).answer.as_deref()),
        messages(rows, |r| &get(r).input_messages),
        messages(rows, |r| &get(r).output_messages),
        documents(rows, get),
        json(rows, 0, |r, out| message::write_calls(&get(r).tool_calls, out)),
        texts(rows, |r| &get(r).finish_reasons),
        double(rows, |r| get(r).temperature),
        int(rows, |r| get(r).max_tokens),
        int(rows, |r| get(r).input_tokens),
        int(rows, |r| get(r).output_tokens),
        int(rows, |r| get(r).cache_read_tokens),
        int(rows, |r| get(r).reasoning_tokens),
        double(rows, |r| get(r).cost_usd),
        text(rows, |r| get(r).session_id.as_deref()),
        text(rows, |r| get(r).user_id.as_deref()),
        text(rows, |r| get(r).prompt_name.as_deref()),
        text(rows, |r| get(r).prompt_version.as_deref()),
        text(rows, |r| get(r).error_type.as_deref()),
    ]
}

fn messages<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a [Message]) -> ArrayRef {
    let bytes = rows.iter().flat_map(&get).map(Message::text_bytes).sum();
    json(rows, bytes, |row, out| message::write_messages(get(row), out))
}

fn documents<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a Llm) -> ArrayRef {
    let (mut id, mut uri, mut content) = (StringBuilder::new(), StringBuilder::new(), StringBuilder::new());
    let (mut score, mut rank, mut metadata) =
        (Float64Builder::new(), Int32Builder::new(), StringBuilder::new());
    let (mut lengths, mut valid) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for row in rows {
        let list = &get(row).documents;
        for document in list {
            id.append_option(document.id.as_deref());
            uri.append_option(document.uri.as_deref());
            content.append_option(document.content.as_deref());
            score.append_option(document.score);
            rank.append_option(document.rank);
            metadata.append_option(document.metadata.as_ref().map(Json::to_string));
        }
        lengths.push(list.len());
        valid.push(!list.is_empty());
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(id.finish()),
        Arc::new(uri.finish()),
        Arc::new(content.finish()),
        Arc::new(score.finish()),
        Arc::new(rank.finish()),
        Arc::new(metadata.finish()),
    ];
    let values = StructArray::new(document_fields(), columns, None);
    let field = Arc::new(Field::new("element", DataType::Struct(document_fields()), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(field, offsets, Arc::new(values), Some(NullBuffer::from(valid))))
}

/// Reads the convention's columns of every row back.
pub fn read_llm(batch: &RecordBatch) -> Vec<Llm> {
    (0..batch.num_rows()).map(|row| read_llm_at(batch, row)).collect()
}

/// Reads the convention's columns of one row back.
pub fn read_llm_at(batch: &RecordBatch, row: usize) -> Llm {
    let texts = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let get = |name: &str, row: usize| texts(name).and_then(|c: &StringArray| text_at(c, row));
    Llm {
        dialect: get("dialect", row).and_then(|t| Dialect::parse(&t)).unwrap_or(Dialect::None),
        operation: get("operation", row).and_then(|t| Operation::parse(&t)).unwrap_or(Operation::Other),
        provider: get("provider", row),
        request_model: get("request_model", row),
        response_model: get("response_model", row),
        system_prompt: get("system_prompt", row),
        question: get("question", row),
        answer: get("answer", row),
        input_messages: messages_at(batch, "input_messages", row),
        output_messages: messages_at(batch, "output_messages", row),
        documents: documents_at(batch, row),
        tool_calls: tool_calls_at(get("tool_calls", row)),
        finish_reasons: texts_at(batch, "finish_reasons", row),
        temperature: double_at(batch, "temperature", row),
        max_tokens: int_at(batch, "max_tokens", row),
        input_tokens: int_at(batch, "input_tokens", row),
        output_tokens: int_at(batch, "output_tokens", row),
        cache_read_tokens: int_at(batch, "cache_read_tokens", row),
        reasoning_tokens: int_at(batch, "reasoning_tokens", row),
        cost_usd: double_at(batch, "cost_usd", row),
        session_id: get("session_id", row),
        user_id: get("user_id", row),
        prompt_name: get("prompt_name", row),
        prompt_version: get("prompt_version", row),
        error_type: get("error_type", row),
    }
}

/// `batch` with the convention's columns replaced by `rows`, one a row.
pub fn replace_llm(batch: &RecordBatch, rows: &[Llm]) -> Result<RecordBatch, ArrowError> {
    let mut columns = batch.columns().to_vec();
    for (name, column) in LLM_COLUMNS.iter().zip(llm_columns(rows, |r| r)) {
        columns[batch.schema_ref().index_of(name)?] = column;
    }
    RecordBatch::try_new(batch.schema(), columns)
}

fn messages_at(batch: &RecordBatch, name: &str, row: usize) -> Vec<Message> {
    let column = batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    match column {
        Some(column) if !column.is_null(row) => message::from_json_text(column.value(row)),
        _ => Vec::new(),
    }
}

fn tool_calls_at(text: Option<String>) -> Vec<ToolCall> {
    let Some(Ok(Json::Array(calls))) = text.map(|t| serde_json::from_str(&t)) else { return Vec::new() };
    calls
        .into_iter()
        .map(|call| ToolCall {
            id: call.get("id").and_then(Json::as_str).map(str::to_owned),
            name: call.get("name").and_then(Json::as_str).unwrap_or_default().to_owned(),
            arguments: call.get("arguments").cloned().unwrap_or(Json::Null),
        })
        .collect()
}

fn texts_at(batch: &RecordBatch, name: &str, row: usize) -> Vec<String> {
    let Some(list) = batch.column_by_name(name).and_then(|c| c.as_list_opt::<i32>()) else {
        return Vec::new();
    };
    if list.is_null(row) {
        return Vec::new();
    }
    let values = list.value(row);
    let Some(values) = values.as_string_opt::<i32>() else { return Vec::new() };
    values.iter().flatten().map(str::to_owned).collect()
}

fn int_at(batch: &RecordBatch, name: &str, row: usize) -> Option<i64> {
    let column: &Int64Array = batch.column_by_name(name)?.as_primitive_opt::<Int64Type>()?;
    (!column.is_null(row)).then(|| column.value(row))
}

fn double_at(batch: &RecordBatch, name: &str, row: usize) -> Option<f64> {
    let column: &Float64Array = batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
    (!column.is_null(row)).then(|| column.value(row))
}

fn documents_at(batch: &RecordBatch, row: usize) -> Vec<Document> {
    let Some(list) = batch.column_by_name("documents").and_then(|c| c.as_list_opt::<i32>()) else {
        return Vec::new();
    };
    if list.is_null(row) {
        return Vec::new();
    }
    let values = list.value(row);
    let Some(values) = values.as_struct_opt() else { return Vec::new() };
    let get = |name: &str, at: usize| {
        values.column_by_name(name).and_then(|c| c.as_string_opt::<i32>()).and_then(|c| text_at(c, at))
    };
    let score = values.column_by_name("score").and_then(|c| c.as_primitive_opt::<Float64Type>());
    let rank = values.column_by_name("rank").and_then(|c| c.as_primitive_opt::<Int32Type>());
    (0..values.len())
        .map(|at| {
            let metadata: Option<Json> = get("metadata", at).and_then(|t| serde_json::from_str(&t).ok());
            Document {
                id: get("id", at),
                uri: get("uri", at),
                content: get("content", at),
                score: score.filter(|c| !c.is_null(at)).map(|c| c.value(at)),
                rank: rank.filter(|c| !c.is_null(at)).map(|c| c.value(at)),
                tenant: tenant_of(metadata.as_ref()),
                metadata,
            }
        })
        .collect()
}

fn tenant_of(metadata: Option<&Json>) -> Option<String> {
    let object = metadata?.as_object()?;
    let value = object.get("tenant").or_else(|| object.get("tenant_id"))?;
    value.as_str().map(str::to_owned)
}
