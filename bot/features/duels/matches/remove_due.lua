-- Removes a code from the matches to look at, unless it was made due again.
--
-- KEYS  the sorted set of matches to look at
-- ARGV  the code; the score with which the caller looked at it
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '-1') == tonumber(ARGV[2]) then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
