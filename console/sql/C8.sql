-- What was decided about a trace.
SELECT rule, rule_version, decision, reason, inclusion_probability, stratum, decided_at
FROM decisions WHERE trace_id = $id ORDER BY decided_at;
