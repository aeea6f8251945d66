-- Replaces a game unless its bytes have changed.
--
-- KEYS  the game
-- ARGV  the old bytes, the new bytes
-- Returns whether it was replaced.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
