-- C38, the metrics that have scores, at any time: for a name that has none.
SELECT DISTINCT metric FROM scores WHERE source = 'rule' ORDER BY 1 LIMIT 1000;
