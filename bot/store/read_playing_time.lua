-- Return a shard's playing time. Needs playing_time.lua.
--
-- KEYS  attended
return tostring(playing_time(KEYS[1], store_time()))
