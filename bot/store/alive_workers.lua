-- Return the workers that are alive. Needs playing_time.lua.
--
-- A worker with a report from the future does not count (report_alive.lua).
--
-- KEYS  workers
-- ARGV  seconds for which a worker counts as alive
local now = store_time()
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], now + ARGV[1])
