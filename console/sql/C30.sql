-- C30, the item as both were asked it: the same item may say something else in another version
SELECT external_id, input, expected FROM dataset_items
WHERE item_id = $item AND content_hash IN (SELECT item_hash FROM runs_latest WHERE item_id = $item AND experiment_id = $new) LIMIT 1;
