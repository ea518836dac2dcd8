SELECT DISTINCT ON (tenant, dataset_id) *
FROM datasets
ORDER BY tenant, dataset_id, version DESC
