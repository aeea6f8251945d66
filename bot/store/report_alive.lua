-- A worker says that it is alive. Who has not for the time of a lease is gone, and so is who did in the future: the
-- store's clock was set back since. One that joins is not there yet as long as any whose days end elsewhere is.
--
-- KEYS  workers
-- ARGV  worker and its zone, seconds that a lease lasts; of one that joins its zone, too, otherwise ""
-- Returns the time, the other workers that went without a word with when they were last heard, and the workers there are
local now = store_time()
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - ARGV[2]), 'WITHSCORES')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.3f', now + ARGV[2]), '+inf')
local may_be = true
if ARGV[3] ~= '' and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  for _, worker in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local zone = string.match(worker, ' (.+)')
    may_be = may_be and (not zone or zone == ARGV[3])
  end
end
if may_be then redis.call('ZADD', KEYS[1], string.format('%.3f', now), ARGV[1]) end
return {string.format('%.3f', now), silent, unpack(redis.call('ZRANGE', KEYS[1], 0, -1))}
