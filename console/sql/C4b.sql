-- What a trace was asked and answered, as far as its spans say.
SELECT span_id, parent_span_id, operation, status_code, start_time, duration_ns, left(question, 600) AS question, left(answer, 1200) AS answer
FROM spans WHERE trace_id = $id AND (question IS NOT NULL OR answer IS NOT NULL)
ORDER BY start_time, span_id LIMIT 50;
