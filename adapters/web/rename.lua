-- Replaces a person unless they have changed or were forgotten.
--
-- KEYS  people
-- ARGV  an id, the person as they were read, the new one
-- Returns whether they were replaced.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
