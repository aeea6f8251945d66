-- Gives a person's rating in a scope to their pseudonym, and deletes their rank and history there.
--
-- KEYS  a scope's ratings, ranks and history
-- ARGV  the person, the pseudonym
-- Returns whether the person had a rating there.
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
local standing = redis.call('HGET', KEYS[1], ARGV[1])
if not standing then return 0 end
redis.call('HSETNX', KEYS[1], ARGV[2], standing)
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
