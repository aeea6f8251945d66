-- Adds a game's number to a list in a profile. Does not create a profile.
--
-- KEYS  profile
-- ARGV  field, number, how many numbers the list holds at most
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local known, count = redis.call('HGET', KEYS[1], ARGV[1]) or '', 0
for number in string.gmatch(known, '%d+') do
  if number == ARGV[2] then return 0 end
  count = count + 1
end
if count >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], count == 0 and ARGV[2] or known .. ' ' .. ARGV[2])
return 1
