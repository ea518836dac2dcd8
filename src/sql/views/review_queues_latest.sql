SELECT DISTINCT ON (tenant, queue_id) *
FROM review_queues
ORDER BY tenant, queue_id, revision DESC, created_at
