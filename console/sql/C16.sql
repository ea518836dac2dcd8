-- Coverage over time: a trace that was taken has a row `queued`, and `scored` when it is done. Its spans began before that.
SELECT date_bin(CAST($step AS INTERVAL), decided_at) AS bucket, count(*) FILTER (WHERE decision = 'queued') AS queued,
       count(*) FILTER (WHERE decision = 'scored') AS scored,
       count(*) FILTER (WHERE decision IN ('throttled', 'over_budget', 'expired', 'failed')) AS lost,
       min(span_time) FILTER (WHERE decision NOT IN ('filtered', 'not_sampled')) AS first
FROM decisions WHERE decided_at >= $from AND decided_at < $to GROUP BY 1 ORDER BY 1;
