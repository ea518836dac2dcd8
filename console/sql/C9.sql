-- The explorer's rows, newest first; $where is the filter, one SQL expression over spans.
SELECT start_time, trace_id, span_id, service_name, operation, name, request_model, duration_ns, status_code,
       input_tokens, output_tokens, cost_usd, left(question, 200) AS question, left(answer, 200) AS answer
FROM spans
WHERE start_time >= $from AND start_time < $to AND ($where)
ORDER BY start_time DESC, span_id LIMIT 200;
