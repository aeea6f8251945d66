-- Assigns the next number to a game without one.
--
-- KEYS  order, counter
-- ARGV  the game's id
-- Returns the number.
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if known then return tonumber(known) end
local number = redis.call('INCR', KEYS[2])
redis.call('ZADD', KEYS[1], number, ARGV[1])
return number
