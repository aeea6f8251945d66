-- Set a table aside that the rules refuse: its clock stands still, and delivery is to tell its players once.
--
-- KEYS  set aside, changed, timers, attended
-- ARGV  code, version
-- Returns whether it was not set aside before. With the code stands what its clock had left, in seconds, or nothing.
as_hash(KEYS[1])
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
local rings = redis.call('ZSCORE', KEYS[3], ARGV[1])
local left = rings and string.format('%.3f', rings - playing_time(KEYS[4], store_time())) or ''
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], left)
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
