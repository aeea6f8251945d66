-- Return the entries of a table's log after a known version.
--
-- KEYS  table
-- ARGV  the known version, and its last entry or ""
-- Returns {0, the entries since then...}, or {-1, the whole stored list...} if the reader is behind a fold, ahead of a
-- new log, or knows entries that a failover lost.
local stored = redis.call('LLEN', KEYS[1])
local base, version = 0, 0
if stored > 0 then
  base = tonumber(string.match(redis.call('LINDEX', KEYS[1], 0), '^%d+')) or -1
  version = base + stored - 1
end
local known = tonumber(ARGV[1])
local is_known = known == base and (known == version or known == 0)
if base >= 0 and known > base and known <= version then
  is_known = redis.call('LINDEX', KEYS[1], known - base) == ARGV[2]
end
if not is_known then
  local whole = redis.call('LRANGE', KEYS[1], 0, -1)
  table.insert(whole, 1, -1)
  return whole
end
local missed = stored > 0 and redis.call('LRANGE', KEYS[1], known - base + 1, -1) or {}
table.insert(missed, 1, 0)
return missed
