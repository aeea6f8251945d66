-- Notes that a program used a key for a request. The oldest key makes room for a new one.
--
-- KEYS  used keys of a program: each key's fingerprint; '#' counts them, '#0' to '#999' name them
-- ARGV  a key, the request's fingerprint, how many keys to keep, and for how many seconds
-- Returns the fingerprint of the request that the key was first used for.
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then return known end
local place = '#' .. redis.call('HINCRBY', KEYS[1], '#', 1) % tonumber(ARGV[3])
local oldest = redis.call('HGET', KEYS[1], place)
if oldest then redis.call('HDEL', KEYS[1], oldest) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], place, ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return ARGV[2]
