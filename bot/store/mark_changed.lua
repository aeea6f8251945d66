-- Mark a table as changed without an entry, because some surfaces are outdated. Do nothing for a removed table or
-- another worker's.
--
-- KEYS  table, changed, attended
-- ARGV  code, worker, version
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local owner = redis.call('HGET', KEYS[3], 'worker')
if owner and owner ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[2], 'GT', ARGV[3], ARGV[1])
return 1
