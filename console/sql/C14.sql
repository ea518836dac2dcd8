-- Alerts: their state and statistic over time.
SELECT alert, slice, state, metric, method, severity, statistic, estimate, lower, upper, n, threshold, alpha, since, evaluated_at, message
FROM alerts WHERE evaluated_at >= $from AND evaluated_at < $to ORDER BY evaluated_at DESC LIMIT 2000;
