-- Sessions.
SELECT session_id, count(*) AS traces, min(start_time) AS first, max(start_time) AS last
FROM traces WHERE session_id IS NOT NULL GROUP BY 1 ORDER BY last DESC LIMIT 50;
