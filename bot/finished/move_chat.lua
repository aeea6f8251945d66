-- Renames a chat's keys to its new id, except those that the new id already has.
--
-- KEYS  moved chats; then the old and the new name of each of the chat's keys
-- ARGV  the chat's old id, its new one
-- Returns the number of keys not renamed.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
local stay = 0
for place = 2, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[place]) == 1 then
    stay = stay + 1 - redis.call('RENAMENX', KEYS[place], KEYS[place + 1])
  end
end
return stay
