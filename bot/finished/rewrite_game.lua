-- Replaces a game unless it has changed.
--
-- KEYS  the game
-- ARGV  the game as it was read, the new one
-- Returns whether it was replaced.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
