-- The explorer's histogram.
SELECT date_bin(CAST($step AS INTERVAL), start_time) AS bucket, status_code, count(*) AS n
FROM spans
WHERE start_time >= $from AND start_time < $to AND ($where)
GROUP BY 1, 2 ORDER BY 1;
