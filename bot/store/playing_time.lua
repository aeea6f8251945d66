-- Goes before the scripts that need it. A shard's playing time is how long it has been attended in all, in seconds: it
-- is what clocks run by. It stands still while nobody attends the shard, and what the store's own clock jumps does not
-- count, so of what lies between two visits of the owner (every four seconds) no more than this counts:
local LONGEST = 5

local function store_time()
  local time = redis.call('TIME')
  return time[1] + time[2] / 1000000
end

-- The playing time of the shard with this key of attendance; it never goes back.
local function playing_time(attended, now)
  local found = redis.call('HMGET', attended, 'played', 'at')
  local played = tonumber(found[1] or 0)
  if not found[2] then return played end
  return played + math.max(0, math.min(now - tonumber(found[2]), LONGEST))
end
