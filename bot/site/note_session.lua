-- Replaces a session unless it has changed or ended.
--
-- KEYS  a person's sessions
-- ARGV  an id, the session as it was read, the new one, seconds to keep all of them
-- Returns whether it was replaced.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
