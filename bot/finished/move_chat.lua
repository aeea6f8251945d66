-- Renames a chat's keys to those of its new id. A key that the new id has already stays.
--
-- KEYS  chats that have moved; then for each of the chat's keys its old name and its new one
-- ARGV  the chat's old id, its new one
-- Returns how many keys stay.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
local stay = 0
for place = 2, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[place]) == 1 then
    stay = stay + 1 - redis.call('RENAMENX', KEYS[place], KEYS[place + 1])
  end
end
return stay
