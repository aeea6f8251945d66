-- Returns the server's version. Servers before 7.0 tell it only to users who may run INFO.
return redis.REDIS_VERSION or string.match(redis.call('INFO', 'server'), 'redis_version:(%S+)')
