-- Deletes a profile unless it has a name by now (`Profile.is_known`).
--
-- KEYS  the profile
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then redis.call('DEL', KEYS[1]) end
