-- When the newest span began: an empty page says where the data is.
SELECT max(start_time) AS newest, count(*) AS n FROM spans;
