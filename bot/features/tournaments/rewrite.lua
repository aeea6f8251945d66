-- Replaces a tournament's log unless it has changed.
--
-- KEYS  the log
-- ARGV  number of known entries, the last of them, seconds until the log expires or '' (an older expiry stays),
--       the new entries...
-- Returns whether it was replaced.
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('LINDEX', KEYS[1], -1) ~= ARGV[2] then return 0 end
local left = redis.call('TTL', KEYS[1])
redis.call('DEL', KEYS[1])
for place = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
if left >= 0 then redis.call('EXPIRE', KEYS[1], math.max(left, 1))
elseif ARGV[3] ~= '' then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return 1
