-- Hold a shard for a while longer, and let its playing time pass.
--
-- KEYS  attended
-- ARGV  worker, seconds that a lease lasts, "keep" (it is the worker's), "take" (if it is free) or "seize"
-- Returns 1 if the shard is the worker's now
local now = store_time()
local found = redis.call('HMGET', KEYS[1], 'worker', 'at')
local mine = found[1] == ARGV[1]
-- A lease from the future was made before the store's clock was set back.
local free = not found[1] or math.abs(now - tonumber(found[2])) > tonumber(ARGV[2])
if not (mine or (ARGV[3] == 'take' and free) or ARGV[3] == 'seize') then return 0 end
local played = string.format('%.6f', playing_time(KEYS[1], now))
redis.call('HSET', KEYS[1], 'worker', ARGV[1], 'at', string.format('%.6f', now), 'played', played)
return 1
