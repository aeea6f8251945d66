-- Replace a table's log unless it has changed.
--
-- KEYS  the table
-- ARGV  the known length and head of the log, then the new log
-- Returns whether it was replaced.
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[1]) or redis.call('LINDEX', KEYS[1], 0) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
for place = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
return 1
