-- Change a lever and log it. Return the new version, or 0 if the field to delete is missing.
--
-- KEYS  levers, pulls
-- ARGV  field, value or "" to delete it, log entry, number of log entries kept
if ARGV[2] == '' then
  if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
redis.call('RPUSH', KEYS[2], ARGV[3])
redis.call('LTRIM', KEYS[2], -ARGV[4], -1)
return redis.call('HINCRBY', KEYS[1], 'version', 1)
