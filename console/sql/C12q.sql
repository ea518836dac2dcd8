-- What was asked and answered in these spans; $ids is a list of trace ids.
-- $ids is text of the statement too, made of ids that were checked.
SELECT trace_id, span_id, left(question, 300) AS question, left(answer, 500) AS answer
FROM spans WHERE trace_id IN ($ids) AND (question IS NOT NULL OR answer IS NOT NULL)
ORDER BY trace_id, start_time, span_id LIMIT 2000;
