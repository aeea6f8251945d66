-- Deletes a person's mark unless it has changed.
--
-- KEYS  marks
-- ARGV  the person, the mark
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
