-- Renew or take a shard's lease, and add to its playing time.
--
-- KEYS  attended
-- ARGV  worker, seconds of a lease, "keep" (only the worker's own shard), "take" (also a free one) or "seize" (any)
-- Returns 1 if the worker has the shard now.
local now = store_time()
local found = redis.call('HMGET', KEYS[1], 'worker', 'at')
local mine = found[1] == ARGV[1]
-- A lease from the future was made before the store's clock was set back.
local free = not found[1] or math.abs(now - tonumber(found[2])) > tonumber(ARGV[2])
if not (mine or (ARGV[3] == 'take' and free) or ARGV[3] == 'seize') then return 0 end
local played = string.format('%.6f', playing_time(KEYS[1], now))
redis.call('HSET', KEYS[1], 'worker', ARGV[1], 'at', string.format('%.6f', now), 'played', played)
return 1
