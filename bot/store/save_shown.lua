-- Save the states of a table's messages, unless the table was removed or is another worker's.
--
-- KEYS  table, shown, changed, attended
-- ARGV  code, worker, the version that all of them show or "", then name and text of each changed surface
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local owner = redis.call('HGET', KEYS[4], 'worker')
if owner and owner ~= ARGV[2] then return 0 end
for place = 4, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[place], ARGV[place + 1]) end
if ARGV[3] ~= '' then
  local score = redis.call('ZSCORE', KEYS[3], ARGV[1])
  if score and tonumber(score) <= tonumber(ARGV[3]) then redis.call('ZREM', KEYS[3], ARGV[1]) end
end
return 1
