-- Reads ratings at one moment.
--
-- KEYS  number of the last rated game, then ratings, ranks and history of each scope
-- ARGV  the expected number, then pairs of a scope's index and a person
-- Returns rating, rank and history for each pair, or nothing if another game has been rated since.
if (redis.call('GET', KEYS[1]) or '0') ~= ARGV[1] then return false end
local found = {}
for index = 2, #ARGV, 2 do
  local scope = tonumber(ARGV[index])
  found[#found + 1] = redis.call('HGET', KEYS[2 + 3 * scope], ARGV[index + 1])
  found[#found + 1] = redis.call('ZSCORE', KEYS[3 + 3 * scope], ARGV[index + 1])
  found[#found + 1] = redis.call('HGET', KEYS[4 + 3 * scope], ARGV[index + 1])
end
return found
