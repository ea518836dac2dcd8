-- What was decided, by rule, reason and stratum. A draw has its number in the reason, which would make a group of every
-- trace: it is left out. Of each rule and decision the 50 most frequent stand alone, the others are counted together.
SELECT rule, rule_version, decision, reason, stratum, sum(n) AS n, min(p_min) AS p_min, max(p_max) AS p_max
FROM (SELECT rule, rule_version, decision, CASE WHEN place <= 50 THEN reason ELSE 'other reasons' END AS reason,
             CASE WHEN place <= 50 THEN stratum ELSE 'others' END AS stratum, n, p_min, p_max
      FROM (SELECT rule, rule_version, decision, reason, stratum, n, p_min, p_max,
                   row_number() OVER (PARTITION BY rule, decision ORDER BY n DESC, reason, stratum, rule_version) AS place
            FROM (SELECT rule, rule_version, decision,
                         CASE WHEN starts_with(reason, 'drew ') THEN substr(reason, strpos(reason, ', ') + 2) ELSE reason END AS reason,
                         stratum, count(*) AS n, min(inclusion_probability) AS p_min, max(inclusion_probability) AS p_max
                  FROM decisions WHERE decided_at >= $from AND decided_at < $to
                  GROUP BY 1, 2, 3, 4, 5)))
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 6 DESC, 3, 4;
