-- Return the store's time. Needs playing_time.lua.
return tostring(store_time())
