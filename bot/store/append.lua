-- Append all entries to a table's log if it has the version that the writer knows.
--
-- KEYS  table, changed, timers, attended, gone
-- ARGV  code, expected version, seconds until the clock rings ("" leaves it, "inf" stops it), a new head for all
--       entries so far or "", a notification for the shard's owner (`bot.store.commit_notification`) or "", the last
--       entry that the writer knows or "", entries...
-- Returns {1, new version}, or {0, the entries that the writer does not know...}. {-1} if the writer must load the
-- whole log: it is behind a fold, or it knows entries that a failover lost. {-2, the opener's mark} if a table of this
-- code was removed recently.
local stored = redis.call('LLEN', KEYS[1])
local base, version = 0, 0
if stored > 0 then
  base = tonumber(string.match(redis.call('LINDEX', KEYS[1], 0), '^%d+'))
  version = base + stored - 1
end
local expected = tonumber(ARGV[2])
-- Folded entries cannot be compared.
local is_known = expected == base and (expected == version or expected == 0)
if expected > base and expected <= version then
  is_known = redis.call('LINDEX', KEYS[1], expected - base) == ARGV[6]
end
if not is_known then return {-1} end
if version ~= expected then
  local missed = redis.call('LRANGE', KEYS[1], expected - base + 1, -1)
  table.insert(missed, 1, 0)
  return missed
end
if stored == 0 then
  local whose = redis.call('GET', KEYS[5])
  if whose then return {-2, whose} end
end
if ARGV[4] ~= '' then
  redis.call('DEL', KEYS[1])
  redis.call('RPUSH', KEYS[1], ARGV[4])
elseif stored == 0 then
  redis.call('RPUSH', KEYS[1], '0 ')
end
for place = 7, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[place]) end
version = expected + #ARGV - 6
redis.call('ZADD', KEYS[2], version, ARGV[1])
if ARGV[3] == 'inf' then
  redis.call('ZREM', KEYS[3], ARGV[1])
elseif ARGV[3] ~= '' then
  local rings = playing_time(KEYS[4], store_time()) + tonumber(ARGV[3])
  redis.call('ZADD', KEYS[3], string.format('%.3f', rings), ARGV[1])
end
if ARGV[5] ~= '' then
  local owner = redis.call('HGET', KEYS[4], 'worker')
  if owner then redis.call('PUBLISH', 'buongioco:worker:' .. owner, table.concat(ARGV, '\n', 5)) end
end
return {1, version}
