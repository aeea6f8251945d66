-- Replaces a person in a game's rating changes.
--
-- KEYS  the game's changes
-- ARGV  the person, the pseudonym
-- Returns whether the game has rating changes.
local text = redis.call('GET', KEYS[1])
if not text then return 0 end
local changes = cjson.decode(text)
for _, change in ipairs(changes) do
  if change[1] == ARGV[1] then change[1] = ARGV[2] end
end
redis.call('SET', KEYS[1], cjson.encode(changes), 'KEEPTTL')
return 1
