-- C35, what a call was asked, and what its trace had retrieved: an item for the playground.
SELECT span_id, operation, question, answer, system_prompt, input_messages, documents FROM spans
WHERE trace_id = $id AND (span_id = $span OR operation = 'retrieval') ORDER BY start_time, span_id LIMIT 50;
