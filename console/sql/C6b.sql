-- What a trace's calls said and were given: the conversation.
SELECT span_id, name, operation, status_code, start_time, duration_ns, system_prompt, input_messages, output_messages, documents, question, answer
FROM spans
WHERE trace_id = $id AND (input_messages IS NOT NULL OR output_messages IS NOT NULL OR documents IS NOT NULL
       OR (operation = 'tool' AND answer IS NOT NULL))
ORDER BY start_time, span_id LIMIT 200;
