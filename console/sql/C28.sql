-- How many spans came since the reader last asked; shown, and brought only on demand.
-- $since is a time.
SELECT count(*) AS n FROM spans WHERE received_at >= $since AND ($where);
