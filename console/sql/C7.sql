-- What people said about a trace.
SELECT annotation_id, span_id, name, label, value, comment, annotator, created_at
FROM annotations WHERE trace_id = $id ORDER BY created_at;
