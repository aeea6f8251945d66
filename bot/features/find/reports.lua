-- Files a report unless its id exists. Can be repeated.
--
-- KEYS  reports, ids not sent to the host yet, the person's count of reports
-- ARGV  id, text, largest count, seconds until the count expires
-- Returns 'filed', 'again' if the id exists, 'many' if the count is reached.
local reports, unsent, filed = unpack(KEYS)
if redis.call('HEXISTS', reports, ARGV[1]) == 1 then return 'again' end
if tonumber(redis.call('GET', filed) or 0) >= tonumber(ARGV[3]) then return 'many' end
if redis.call('INCR', filed) == 1 then redis.call('EXPIRE', filed, ARGV[4]) end
redis.call('HSET', reports, ARGV[1], ARGV[2])
redis.call('SADD', unsent, ARGV[1])
return 'filed'
