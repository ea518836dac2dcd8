-- What changed, for the marks on the axis: evaluator versions, deployments, alerts. A name with one version has not changed.
-- A version counts the items that it was the first to judge: what was judged again later would put the mark of a new version
-- where an old item stands. The attributes of a resource are grouped before they are read, because many spans share one
-- text; and the condition on the version stands on an aggregate, because it would be asked of every span elsewhere.
SELECT kind, name, version, at, n
FROM (SELECT kind, name, version, at, n, count(*) OVER (PARTITION BY kind, name) AS versions
      FROM (SELECT 'evaluator' AS kind, evaluator AS name, evaluator_version AS version, min(span_time) AS at, count(*) AS n
            FROM scores WHERE span_time >= $from AND span_time < $to AND source = 'rule' AND score_version = 1 GROUP BY 2, 3
            UNION ALL
            SELECT 'deployment', service_name, version, min(at), sum(n)
            FROM (SELECT service_name, attr(resource_attributes, 'service.version') AS version, at, n
                  FROM (SELECT service_name, resource_attributes, min(start_time) AS at, count(*) AS n
                        FROM spans WHERE start_time >= $from AND start_time < $to AND parent_span_id IS NULL GROUP BY 1, 2))
            GROUP BY 2, 3 HAVING count(version) > 0
            UNION ALL
            SELECT 'alert', metric, concat(state, ' ', slice), evaluated_at, 1
            FROM alerts WHERE evaluated_at >= $from AND evaluated_at < $to AND coalesce(message, '') NOT LIKE 'acknowledged by %'))
WHERE kind = 'alert' OR versions > 1
ORDER BY 4, 1, 2, 3 LIMIT 200;
