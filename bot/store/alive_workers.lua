-- Returns the workers that are alive. It runs behind playing_time.lua.
--
-- As in report_alive.lua, a worker seen in the future is gone: the clock was set back since.
--
-- KEYS  workers
-- ARGV  seconds for which a worker counts as alive
local now = store_time()
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], now + ARGV[1])
