-- Changes whom people have blocked, in one step. Each may be asked twice.
--
-- KEYS  blocks: by person a JSON list of their blocks, each a token, whom they blocked and by what name
-- ARGV  what to do, the person, then what it wants:
--   add PERSON MOST TOKEN OTHER NAME   one more, unless the same stands there. Returns 0 where there are as many as may be
--   remove PERSON TOKEN                take one away
--   drop PERSON OTHER                  take all of somebody away
local blocks, person = KEYS[1], ARGV[2]
local found = redis.call('HGET', blocks, person)
local known = found and cjson.decode(found) or {}

local function keep(wanted)
  local left = {}
  for _, block in ipairs(known) do
    if wanted(block) then left[#left + 1] = block end
  end
  if #left > 0 then
    redis.call('HSET', blocks, person, cjson.encode(left))
  else
    redis.call('HDEL', blocks, person)
  end
end

local changes = {}

function changes.add(most, token, other, name)
  for _, block in ipairs(known) do
    if block[2] == other and block[3] == name then return 1 end
  end
  if #known >= tonumber(most) then return 0 end
  known[#known + 1] = { token, other, name }
  redis.call('HSET', blocks, person, cjson.encode(known))
  return 1
end

function changes.remove(token)
  keep(function(block) return block[1] ~= token end)
  return 1
end

function changes.drop(other)
  keep(function(block) return block[2] ~= other end)
  return 1
end

return changes[ARGV[1]](unpack(ARGV, 3))
