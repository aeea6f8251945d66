-- A worker says that it is alive. Who has not for the time of a lease is gone, and so is who did in the future: the
-- store's clock was set back since.
--
-- KEYS  workers
-- ARGV  worker, seconds that a lease lasts
-- Returns the time, and the workers that there are
local now = store_time()
redis.call('ZADD', KEYS[1], string.format('%.3f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.3f', now + ARGV[2]), '+inf')
return {string.format('%.3f', now), unpack(redis.call('ZRANGE', KEYS[1], 0, -1))}
