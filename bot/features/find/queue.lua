-- Changes the queue of those who look for an opponent, in one step. Each may be asked twice.
--
-- KEYS  waiting, asked, pairings, blocks (blocks.lua); for look also what notes that its update was heard
-- ARGV  what to do, then what it wants:
--   look PERSON WISH SECONDS [on]
--                               wait, or wait on with another wish; with 'on' only that. Returns 'waiting'; 'asked' if
--                               the person is asked just now; 'repeated' if the update was heard before, within so many
--                               seconds, or was to wait on, and the person does neither by now
--   leave PERSON                wait no more. Returns 1; 0 if the person is asked just now
--   pair CODE GAME PERSON TEXT PERSON TEXT ...
--                               ask some who wait, if their texts are still these and none has blocked another.
--                               Returns 1, or 0
--   part CODE PERSON ...        a pairing is over; these go back to their places. Returns 1, or 0 if there is none
--   now                         the store's clock, Unix seconds
local waiting, asked, pairings, blocks, heard = unpack(KEYS)

-- The pairing in which a person is asked; what names one that is no more is dropped.
local function asked_in(person)
  local code = redis.call('HGET', asked, person)
  if code and redis.call('HEXISTS', pairings, code) == 1 then return code end
  if code then redis.call('HDEL', asked, person) end
  return false
end

local changes = {}

function changes.now()
  local time = redis.call('TIME')
  return string.format('%.6f', time[1] + time[2] / 1000000)
end

function changes.look(person, wish, seconds, on)
  local is_new = redis.call('SET', heard, 1, 'NX', 'EX', seconds)
  if asked_in(person) then return 'asked' end
  local found = redis.call('HGET', waiting, person)
  if not is_new or (on and not found) then return found and 'waiting' or 'repeated' end
  local since = found and string.match(found, '^%S+') or changes.now()
  redis.call('HSET', waiting, person, since .. ' ' .. wish)
  return 'waiting'
end

function changes.leave(person)
  redis.call('HDEL', waiting, person)
  return asked_in(person) and 0 or 1
end

local function has_blocked(one, other)
  local found = redis.call('HGET', blocks, one)
  for _, block in ipairs(found and cjson.decode(found) or {}) do
    if block[2] == other then return true end
  end
  return false
end

function changes.pair(code, game, ...)
  if redis.call('HEXISTS', pairings, code) == 1 then return 1 end
  local given, people, texts = { ... }, {}, {}
  for place = 1, #given, 2 do
    local person, text = given[place], given[place + 1]
    if redis.call('HGET', waiting, person) ~= text then return 0 end
    for _, other in ipairs(people) do
      if person == other or has_blocked(person, other) or has_blocked(other, person) then return 0 end
    end
    people[#people + 1], texts[#texts + 1] = person, text
  end
  redis.call('HDEL', waiting, unpack(people))
  for _, person in ipairs(people) do redis.call('HSET', asked, person, code) end
  redis.call('HSET', pairings, code, cjson.encode({ game = game, people = people, texts = texts }))
  return 1
end

-- Whoever stays goes back to the place they had: the text says since when they wait.
function changes.part(code, ...)
  local found = redis.call('HGET', pairings, code)
  if not found then return 0 end
  local pairing = cjson.decode(found)
  redis.call('HDEL', asked, unpack(pairing.people))
  redis.call('HDEL', pairings, code)
  for _, stays in ipairs({ ... }) do
    for seat = 1, #pairing.people do
      if pairing.people[seat] == stays then redis.call('HSET', waiting, stays, pairing.texts[seat]) end
    end
  end
  return 1
end

return changes[ARGV[1]](unpack(ARGV, 2))
