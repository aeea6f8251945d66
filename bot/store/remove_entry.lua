-- Remove a table from an index if its entry has this token and is at least this old.
--
-- KEYS  index
-- ARGV  code, token, seconds
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local since = tonumber(string.match(ARGV[2], '^%d+'))
if tonumber(redis.call('TIME')[1]) - since < tonumber(ARGV[3]) then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
