-- Return the tables of a shard that are set aside.
--
-- KEYS  set aside
as_hash(KEYS[1])
return redis.call('HKEYS', KEYS[1])
