-- Appends entries to a tournament's log if the writer knows the whole log.
--
-- KEYS  the log
-- ARGV  number of known entries, the last of them or '', seconds until the log expires or '' (an older expiry stays),
--       entries...
-- Returns {1}, or {0, the log's entries...} if the log has changed.
local expected = tonumber(ARGV[1])
if redis.call('LLEN', KEYS[1]) ~= expected
  or (expected > 0 and redis.call('LINDEX', KEYS[1], -1) ~= ARGV[2]) then
  local found = redis.call('LRANGE', KEYS[1], 0, -1)
  table.insert(found, 1, 0)
  return found
end
for index = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[index]) end
if ARGV[3] ~= '' then redis.call('EXPIRE', KEYS[1], ARGV[3], 'NX') end
return {1}
