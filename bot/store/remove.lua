-- Remove a table, and remember its code for a day: the update that opened it may be delivered again.
--
-- KEYS  table, shown, changed, timers, set aside, gone, ended
-- ARGV  code, whose it was, seconds to remember that, seconds for which its log can be read, or 0
-- The mark comes first: writes before an error of a script remain, and no table may vanish without one.
redis.call('SET', KEYS[6], ARGV[2], 'EX', ARGV[3])
as_hash(KEYS[5])
if ARGV[4] ~= '0' and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('RENAME', KEYS[1], KEYS[7])
  redis.call('EXPIRE', KEYS[7], ARGV[4])
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
return 1
