-- Return a shard's clocks that ring within some seconds, or the clock of one table.
--
-- KEYS  timers, attended
-- ARGV  seconds; or "" and the table's code
-- Returns {code, seconds until it rings (0 or less if it has), ...}.
local now = playing_time(KEYS[2], store_time())
local found
if ARGV[2] then
  local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
  found = score and {ARGV[2], score} or {}
else
  found = redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.3f', now + ARGV[1]), 'BYSCORE', 'WITHSCORES')
end
for place = 2, #found, 2 do found[place] = string.format('%.3f', tonumber(found[place]) - now) end
return found
