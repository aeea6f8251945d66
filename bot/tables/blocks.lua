-- Change the blocks of a person in one step. Each change can be repeated safely.
--
-- KEYS  blocks: by person, a JSON list of blocks, each [token, blocked person, their name]
-- ARGV  the change, the person, its arguments:
--   add PERSON MOST TOKEN OTHER NAME   add a block, unless it exists. Return 0 if there are MOST blocks already
--   remove PERSON TOKEN                remove one block
--   drop PERSON OTHER                  remove all blocks of OTHER
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
