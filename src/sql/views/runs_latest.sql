SELECT DISTINCT ON (tenant, experiment_id, item_id, repetition) *
FROM runs
ORDER BY tenant, experiment_id, item_id, repetition, attempt DESC
