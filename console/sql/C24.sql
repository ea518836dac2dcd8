-- Whether anything is there: spans, scores, where in the range the scores lie, and what still waits.
SELECT (SELECT count(*) FROM spans) AS spans, (SELECT max(start_time) FROM spans) AS newest,
       (SELECT count(*) FROM scores) AS scores,
       (SELECT min(span_time) FROM scores WHERE span_time >= $from AND span_time < $to AND status = 'ok') AS first,
       (SELECT max(span_time) FROM scores WHERE span_time >= $from AND span_time < $to AND status = 'ok') AS last,
       (SELECT min(queued_at) FROM queue WHERE state NOT IN ('failed', 'expired')) AS oldest_waiting;
