-- Appends entries to a tournament's log unless the writer does not know all of it.
--
-- KEYS  the log
-- ARGV  how many entries the writer knows, the last of them or '', seconds until the log expires or '' (an expiry that
--       was set before stays), entries...
-- Returns {1}, or {0, the log's entries...} if there are entries that the writer does not know.
local expected = tonumber(ARGV[1])
if redis.call('LLEN', KEYS[1]) ~= expected
  or (expected > 0 and redis.call('LINDEX', KEYS[1], -1) ~= ARGV[2]) then
  local found = redis.call('LRANGE', KEYS[1], 0, -1)
  table.insert(found, 1, 0)
  return found
end
for place = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
if ARGV[3] ~= '' then redis.call('EXPIRE', KEYS[1], ARGV[3], 'NX') end
return {1}
