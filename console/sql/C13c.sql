-- The rate that people's marks would give. Only marks on a random part of the items can correct a rate, so only those
-- count that cover the start of the random order without a gap; a mark says whether the evaluator was right.
-- The order itself is not needed: an item is covered where it comes before the first one without a mark.
-- $where is an expression over scores: of a slice only its own items count, and its own random order.
WITH marks AS (
  SELECT trace_id, span_id, label FROM (
    SELECT trace_id, span_id, label, row_number() OVER (PARTITION BY trace_id, span_id ORDER BY created_at DESC, annotation_id) AS newest
    FROM annotations WHERE name = $metric AND label IN ('right', 'wrong'))
  WHERE newest = 1),
items AS (
  SELECT s.passed, s.inclusion_probability, m.label, md5(concat(s.trace_id, s.span_id)) AS place
  FROM (SELECT trace_id, span_id, passed, inclusion_probability FROM scores_latest
        WHERE (evaluator = $evaluator OR $evaluator = '') AND metric = $metric AND status = 'ok' AND passed IS NOT NULL AND source = 'rule'
          AND span_time >= $from AND span_time < $to AND ($where)) s
  LEFT JOIN marks m ON s.trace_id = m.trace_id AND s.span_id = m.span_id),
covered AS (
  SELECT passed, inclusion_probability, label, all_items, first IS NULL OR place < first AS is_covered
  FROM (SELECT passed, inclusion_probability, label, place,
               min(CASE WHEN label IS NULL THEN place END) OVER () AS first, count(*) OVER () AS all_items FROM items)),
counted AS (
  SELECT passed, inclusion_probability, label, all_items, is_covered, sum(CASE WHEN is_covered THEN 1 ELSE 0 END) OVER () AS k FROM covered)
SELECT p['estimate'] AS estimate, p['lower'] AS lower, p['upper'] AS upper, p['n'] AS n, k, marks, agreed
FROM (SELECT ppi_rate(passed, CASE WHEN is_covered THEN (label = 'right') = passed END, inclusion_probability,
                      CASE WHEN is_covered THEN CAST(k AS DOUBLE) / all_items END) AS p,
             max(k) AS k, count(label) AS marks, count(*) FILTER (WHERE label = 'right') AS agreed
      FROM counted);
