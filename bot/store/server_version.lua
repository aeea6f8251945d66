-- Return the server's version. Servers before 7.0 need the permission to run INFO.
return redis.REDIS_VERSION or string.match(redis.call('INFO', 'server'), 'redis_version:(%S+)')
