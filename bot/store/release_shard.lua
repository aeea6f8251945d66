-- Give a shard back. Its playing time stops.
--
-- KEYS  attended
-- ARGV  worker
if redis.call('HGET', KEYS[1], 'worker') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'played', string.format('%.6f', playing_time(KEYS[1], store_time())))
return redis.call('HDEL', KEYS[1], 'worker', 'at')
