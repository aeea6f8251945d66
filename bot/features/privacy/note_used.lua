-- Sets the day of a profile's last use if it is missing. Does not create a profile.
--
-- KEYS  the profile
-- ARGV  the day
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSETNX', KEYS[1], 'used', ARGV[1]) end
