-- Set aside a table that cannot be read: its clock stops, and delivery notifies its players once.
--
-- KEYS  set aside, changed, timers, attended
-- ARGV  code, version
-- Returns 1 if it was not set aside before. The hash keeps the seconds left on its clock, or "".
as_hash(KEYS[1])
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
local rings = redis.call('ZSCORE', KEYS[3], ARGV[1])
local left = rings and string.format('%.3f', rings - playing_time(KEYS[4], store_time())) or ''
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], left)
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
