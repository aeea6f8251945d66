-- Turn a set of codes into a hash of codes and tokens.
--
-- KEYS  the set
-- ARGV  the token
-- Returns whether it was a set.
if redis.call('TYPE', KEYS[1]).ok ~= 'set' then return 0 end
local codes = redis.call('SMEMBERS', KEYS[1])
redis.call('DEL', KEYS[1])
for _, code in ipairs(codes) do redis.call('HSET', KEYS[1], code, ARGV[1]) end
return 1
