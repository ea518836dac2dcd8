-- C34, what some items ask and expect, as they said it in each version.
-- $ids is text of the statement too, made of ids that were checked.
SELECT item_id, content_hash, min(external_id) AS external_id, min(left(input, 4000)) AS input, min(left(expected, 4000)) AS expected
FROM dataset_items WHERE item_id IN ($ids) AND content_hash IS NOT NULL GROUP BY 1, 2 LIMIT 2000;
