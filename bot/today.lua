-- Returns the store's day: whole days since 1970.
return math.floor(redis.call('TIME')[1] / 86400)
