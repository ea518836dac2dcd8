-- C39, the keys that attributes have, the most frequent first: of some spans of the range, because each span is read whole.
SELECT place, word, count(*) AS n FROM (
  SELECT 'attributes' AS place, unnest(json_keys(attributes)) AS word
  FROM (SELECT attributes FROM spans WHERE start_time >= $from AND start_time < $to LIMIT 2000)
  UNION ALL
  SELECT 'resource_attributes', unnest(json_keys(resource_attributes))
  FROM (SELECT resource_attributes FROM spans WHERE start_time >= $from AND start_time < $to LIMIT 2000))
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 1000;
