-- Traffic and how much of it was judged: what never is stands first. A trace is decided after its spans began.
SELECT service_name, request_model, count(DISTINCT trace_id) AS traces, count(DISTINCT scored) AS judged
FROM (SELECT s.service_name, s.request_model, s.trace_id, d.trace_id AS scored
      FROM (SELECT DISTINCT trace_id, service_name, request_model FROM spans
            WHERE start_time >= $from AND start_time < $to AND operation IN ('llm', 'agent', 'chain')) s
      LEFT JOIN (SELECT DISTINCT trace_id FROM decisions WHERE decision = 'scored' AND decided_at >= $from) d ON s.trace_id = d.trace_id)
GROUP BY 1, 2 ORDER BY CAST(count(DISTINCT scored) AS DOUBLE) / count(DISTINCT trace_id), 3 DESC LIMIT 50;
