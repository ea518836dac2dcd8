-- The traces of a session around this one.
SELECT trace_id, start_time, name FROM traces WHERE session_id = $session ORDER BY start_time, trace_id LIMIT 500;
