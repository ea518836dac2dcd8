-- The explorer's next rows: those behind the last one ($t, $s).
SELECT start_time, trace_id, span_id, service_name, operation, name, request_model, duration_ns, status_code,
       input_tokens, output_tokens, cost_usd, left(question, 200) AS question, left(answer, 200) AS answer
FROM spans
WHERE start_time >= $from AND start_time < $to AND ($where)
  AND (start_time < $t OR (start_time = $t AND span_id > $s))
ORDER BY start_time DESC, span_id LIMIT 200;
