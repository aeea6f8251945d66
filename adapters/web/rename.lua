-- Replaces a guest's data unless it has changed or the guest was forgotten.
--
-- KEYS  people
-- ARGV  id, old data, new data
-- Returns whether the data was replaced.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
