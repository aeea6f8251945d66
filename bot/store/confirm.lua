-- Read a key, so that replicas confirm earlier writes to its node.
--
-- KEYS  the key
return redis.call('EXISTS', KEYS[1])
