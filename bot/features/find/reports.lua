-- Files a report, in one step. It may be asked twice.
--
-- KEYS  reports, those that the host was not told of yet, how many the person has filed of late
-- ARGV  the report's id, its text, how many a person may file, in how many seconds
-- Returns 'filed', 'again' if there is one of this id, 'many' where the person may file no more for now.
local reports, untold, filed = unpack(KEYS)
if redis.call('HEXISTS', reports, ARGV[1]) == 1 then return 'again' end
if tonumber(redis.call('GET', filed) or 0) >= tonumber(ARGV[3]) then return 'many' end
if redis.call('INCR', filed) == 1 then redis.call('EXPIRE', filed, ARGV[4]) end
redis.call('HSET', reports, ARGV[1], ARGV[2])
redis.call('SADD', untold, ARGV[1])
return 'filed'
