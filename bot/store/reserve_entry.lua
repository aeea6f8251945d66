-- Add a table to an index if there is room. An existing entry is always renewed.
--
-- KEYS  index
-- ARGV  code, a random word, maximum number of tables ("" for none)
-- Returns the entry's token (seconds of the store's clock, a dot, the word), and 1 if it is new. Returns nothing if
-- the index is full.
local known = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
if not known and ARGV[3] ~= '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return false end
local token = redis.call('TIME')[1] .. '.' .. ARGV[2]
redis.call('HSET', KEYS[1], ARGV[1], token)
return { token, known and 0 or 1 }
