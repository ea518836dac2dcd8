SELECT *
FROM (
  SELECT DISTINCT ON (tenant, dataset_id, item_id) *
  FROM dataset_items
  ORDER BY tenant, dataset_id, item_id, version DESC
)
WHERE op = 'put'
