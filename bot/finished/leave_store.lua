-- Removes a game from the order of games and counts it as moved out.
--
-- KEYS  order, how many games were moved out
-- ARGV  the game's id
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then redis.call('INCR', KEYS[2]) end
return 1
