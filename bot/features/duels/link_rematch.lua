-- Stores the code of the next duel, unless another one was stored since the caller read the duel.
--
-- KEYS  the duel
-- ARGV  the code that the caller read, empty for none; the new code
-- Returns the stored code.
local stored = redis.call('HGET', KEYS[1], 'rematch') or ''
if stored ~= ARGV[1] then return stored end
redis.call('HSET', KEYS[1], 'rematch', ARGV[2])
return ARGV[2]
