-- One span's payload.
SELECT span_id, operation, status_code, start_time, duration_ns, system_prompt, question, answer, input_messages, output_messages, documents, tool_calls, attributes, events, links,
       resource_attributes, status_message, error_type, finish_reasons, dialect, provider, temperature, max_tokens
FROM spans WHERE trace_id = $id AND span_id = $span;
