-- Sets fields of a match unless it is missing, has changed, or has an excluded field.
--
-- KEYS  the match
-- ARGV  the version that the caller read, empty for any; the number of excluded fields; these fields;
--       names and values of the new fields, where an empty value removes a field
-- Returns 1 if the fields were set, otherwise 0.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[1] ~= '' and (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then return 0 end
local first = 3 + tonumber(ARGV[2])
for number = 3, first - 1 do
  if redis.call('HEXISTS', KEYS[1], ARGV[number]) == 1 then return 0 end
end
for number = first, #ARGV, 2 do
  if ARGV[number + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[number])
  else
    redis.call('HSET', KEYS[1], ARGV[number], ARGV[number + 1])
  end
end
redis.call('HINCRBY', KEYS[1], 'version', 1)
return 1
