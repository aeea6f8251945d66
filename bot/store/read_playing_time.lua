-- Returns a shard's playing time. It runs behind playing_time.lua.
--
-- KEYS  the shard's attendance
return tostring(playing_time(KEYS[1], store_time()))
