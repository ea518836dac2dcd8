-- C29, what two experiments answered to one item
SELECT experiment_id, repetition, status, output, error, trace_id, span_id, duration_ms FROM runs_latest
WHERE item_id = $item AND experiment_id IN ($baseline, $new) ORDER BY repetition, experiment_id LIMIT 40;
