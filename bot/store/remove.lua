-- Remove a table. Remember its code for a day, because the update that opened it can be delivered again.
--
-- KEYS  table, shown, changed, timers, set aside, gone, ended
-- ARGV  code, its opener's mark, seconds to keep the mark, seconds for which its log can be read, or 0
--
-- The mark is written first. A failed script keeps its writes, and no table must vanish without a mark.
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
