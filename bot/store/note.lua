-- Write down what is shown of a table, unless the table is gone.
--
-- KEYS  table, shown, changed
-- ARGV  code, the version that everything shows or "", then name and text of each surface that changed
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for place = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[place], ARGV[place + 1]) end
if ARGV[2] ~= '' then
  local score = redis.call('ZSCORE', KEYS[3], ARGV[1])
  if score and tonumber(score) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[3], ARGV[1]) end
end
return 1
