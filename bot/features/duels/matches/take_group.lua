-- Stores or deletes the code of a group's match, unless the code has changed since the caller read it.
--
-- KEYS  the group's match
-- ARGV  the code that the caller read, empty for none; the new code, empty to delete it; its lifetime in seconds
-- Returns 1 if it did, otherwise 0.
local stored = redis.call('GET', KEYS[1]) or ''
if stored ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
end
return 1
