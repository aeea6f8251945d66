-- Other scripts begin with this text. A shard's playing time is the number of seconds for which it has had an owner.
-- Tables' clocks use it.
-- Owners renew every four seconds. A pause counts at most this long, in case the store's clock has jumped:
local LONGEST = 5

local function store_time()
  local time = redis.call('TIME')
  return time[1] + time[2] / 1000000
end

-- Return the playing time of the shard with this `attended` key. It never goes back.
local function playing_time(attended, now)
  local found = redis.call('HMGET', attended, 'played', 'at')
  local played = tonumber(found[1] or 0)
  if not found[2] then return played end
  return played + math.max(0, math.min(now - tonumber(found[2]), LONGEST))
end
