-- Whether anything is there: spans, scores, where in the range the scores lie, and what still waits.
SELECT s.spans, s.newest, a.scores, r.first, r.last, q.oldest_waiting
FROM (SELECT count(*) AS spans, max(start_time) AS newest FROM spans) s
CROSS JOIN (SELECT count(*) AS scores FROM scores) a
CROSS JOIN (SELECT min(span_time) AS first, max(span_time) AS last FROM scores
            WHERE span_time >= $from AND span_time < $to AND status = 'ok') r
CROSS JOIN (SELECT min(queued_at) AS oldest_waiting FROM queue WHERE state NOT IN ('failed', 'expired')) q;
