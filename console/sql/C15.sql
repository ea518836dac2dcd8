-- What was decided, by rule, reason and stratum.
SELECT rule, rule_version, decision, reason, stratum, count(*) AS n, min(inclusion_probability) AS p_min, max(inclusion_probability) AS p_max
FROM decisions WHERE decided_at >= $from AND decided_at < $to
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 6 DESC LIMIT 1000;
