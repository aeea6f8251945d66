-- Delete a key unless its value differs.
--
-- KEYS  the key
-- ARGV  the value
-- Returns 1 if the key is gone now, otherwise 0.
local stored = redis.call('GET', KEYS[1])
if stored and stored ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
