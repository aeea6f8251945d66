-- Reads all data of a table.
--
-- KEYS  table, shown, changed, timers
-- ARGV  code
return {
  redis.call('LRANGE', KEYS[1], 0, -1), redis.call('HGETALL', KEYS[2]),
  redis.call('ZSCORE', KEYS[3], ARGV[1]), redis.call('ZSCORE', KEYS[4], ARGV[1])
}
