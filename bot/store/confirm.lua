-- Reads a key, so that replicas confirm what was written to its node before.
--
-- KEYS  the key
return redis.call('EXISTS', KEYS[1])
