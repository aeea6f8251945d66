-- Stores a person's answer to a puzzle. If two people answer at once, the later rating of the puzzle stays.
--
-- KEYS  the person's answers, all people, all puzzles' ratings, the group's counts, or any key without a group
-- ARGV  the puzzle's id, the card, the person, their known rating ('' for none), their new one, the puzzle's new rating,
--       the count's field ('' for no group), seconds to keep the count
-- Returns 1; 0 if the person has answered before; -1 if their rating is not the known one.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
if (redis.call('HGET', KEYS[2], ARGV[3]) or '') ~= ARGV[4] then return -1 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[5])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[6])
if ARGV[7] ~= '' then
  redis.call('HINCRBY', KEYS[4], ARGV[7], 1)
  redis.call('EXPIRE', KEYS[4], ARGV[8])
end
return 1
