-- Returns the store's time. It runs behind playing_time.lua.
return tostring(store_time())
