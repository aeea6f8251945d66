-- Report a worker as alive. Remove workers that have been silent for a lease, and workers that reported in the future,
-- before the store's clock was set back. A joining worker is not added while one with another time zone is alive.
--
-- KEYS  workers
-- ARGV  worker and its zone, seconds of a lease, the zone again if the worker joins, otherwise ""
-- Returns the time, the other vanished workers with their last report, and the workers that are alive.
local now = store_time()
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - ARGV[2]), 'WITHSCORES')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.3f', now + ARGV[2]), '+inf')
local can_join = true
if ARGV[3] ~= '' and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  for _, worker in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local zone = string.match(worker, ' (.+)')
    can_join = can_join and (not zone or zone == ARGV[3])
  end
end
if can_join then redis.call('ZADD', KEYS[1], string.format('%.3f', now), ARGV[1]) end
return {string.format('%.3f', now), silent, unpack(redis.call('ZRANGE', KEYS[1], 0, -1))}
