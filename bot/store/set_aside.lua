-- Set a table aside that the rules refuse: its clock stops, and delivery is to tell its players once.
--
-- KEYS  set aside, changed, timers
-- ARGV  code, version
-- Returns whether it was not set aside before.
redis.call('ZREM', KEYS[3], ARGV[1])
if redis.call('SADD', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
