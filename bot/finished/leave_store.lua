-- Removes a game from the order of games and counts it as moved.
--
-- KEYS  order, number of moved games
-- ARGV  the game's id
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then redis.call('INCR', KEYS[2]) end
return 1
