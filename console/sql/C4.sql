-- A trace's skeleton; payloads come when a span is chosen (C6).
SELECT span_id, parent_span_id, name, operation, service_name, start_time, duration_ns, status_code, request_model,
       input_tokens, output_tokens, cost_usd, session_id, user_id
FROM spans WHERE trace_id = $id ORDER BY start_time, span_id LIMIT 20000;
