-- Whether anything is there: spans, scores, where in the range the scores lie, and what keeps younger ones from being final.
-- Up to when they are final is said by the answer itself.
SELECT s.spans, s.newest, a.scores, r.first, r.last, w.waits_for
FROM (SELECT count(*) AS spans, max(start_time) AS newest FROM spans) s
CROSS JOIN (SELECT count(*) AS scores FROM scores) a
CROSS JOIN (SELECT min(span_time) AS first, max(span_time) AS last FROM scores
            WHERE span_time >= $from AND span_time < $to AND status = 'ok') r
CROSS JOIN (SELECT max(waits_for) AS waits_for FROM watermarks WHERE table_name = 'scores') w;
