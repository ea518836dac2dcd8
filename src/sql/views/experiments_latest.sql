SELECT DISTINCT ON (tenant, experiment_id) *
FROM experiments
ORDER BY tenant, experiment_id, revision DESC
