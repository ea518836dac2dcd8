SELECT *
FROM (
  SELECT DISTINCT ON (tenant, dataset_id, item_id) *
  FROM dataset_items
  WHERE version <= {version}
  ORDER BY tenant, dataset_id, item_id, version DESC
)
WHERE op = 'put' AND dataset_id IN (
  SELECT dataset_id
  FROM (
    SELECT DISTINCT ON (tenant, dataset_id) dataset_id, name
    FROM datasets
    ORDER BY tenant, dataset_id, version DESC
  )
  WHERE name = '{name}'
)
