-- Notes which people have a page open, and returns who does.
--
-- KEYS  people by the time of their pages' last sign, Unix seconds
-- ARGV  seconds that a sign is kept, number of signs, each sign's person and age in seconds, then people asked about
-- Returns the number of people with a kept sign, then the age of each asked person's sign in seconds, nil without one.
local here, kept, signs = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
if signs > 0 then
  for i = 3, 2 + 2 * signs, 2 do
    redis.call('ZADD', here, 'GT', string.format('%.3f', now - tonumber(ARGV[i + 1])), ARGV[i])
  end
  redis.call('ZREMRANGEBYSCORE', here, '-inf', now - kept)
  redis.call('EXPIRE', here, kept)
end
local answer = {redis.call('ZCOUNT', here, now - kept, '+inf')}
for i = 3 + 2 * signs, #ARGV do
  local at = redis.call('ZSCORE', here, ARGV[i])
  answer[#answer + 1] = at and tonumber(at) > now - kept and string.format('%.3f', now - tonumber(at))
end
return answer
