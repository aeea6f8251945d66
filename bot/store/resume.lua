-- Resume a table that can be read again: its clock runs again, and it is redrawn.
--
-- KEYS  set aside, changed, timers, attended
-- ARGV  code, version
as_hash(KEYS[1])
local left = redis.call('HGET', KEYS[1], ARGV[1])
if not left then return 0 end
if left ~= '' then
  local rings = playing_time(KEYS[4], store_time()) + tonumber(left)
  redis.call('ZADD', KEYS[3], string.format('%.3f', rings), ARGV[1])
end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
