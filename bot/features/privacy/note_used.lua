-- Notes the day of a profile's last use if none is known. A profile that is gone stays so.
--
-- KEYS  the profile
-- ARGV  the day
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSETNX', KEYS[1], 'used', ARGV[1]) end
