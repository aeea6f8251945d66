-- Changes the queue of people who search for opponents. Every command can be repeated.
--
-- KEYS  waiting, asked, pairings, blocks (blocks.lua); for join also the mark of the update
-- ARGV  a command and its arguments:
--   join PERSON WISH SECONDS [only_if_waiting]
--                               add the person, or replace their wish. Returns 'waiting'; 'asked' during a ready check;
--                               'repeated' if neither, because the update is marked or because of only_if_waiting.
--                               The mark lasts SECONDS
--   leave PERSON                remove the person. Returns 1, or 0 during a ready check
--   pair CODE GAME PERSON TEXT PERSON TEXT ...
--                               start a ready check, unless a TEXT has changed or a person has blocked another.
--                               Returns 1, or 0
--   end_pairing CODE PERSON ... delete the pairing and return these people to their places.
--                               Returns 1, or 0 if there is no such pairing
--   now                         the store's clock in Unix seconds
local waiting, asked, pairings, blocks, mark = unpack(KEYS)

-- Returns the code of a person's pairing. Deletes the code of a pairing that is missing.
local function pairing_of(person)
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

function changes.join(person, wish, seconds, only_if_waiting)
  local is_new = redis.call('SET', mark, 1, 'NX', 'EX', seconds)
  if pairing_of(person) then return 'asked' end
  local found = redis.call('HGET', waiting, person)
  if not is_new or (only_if_waiting and not found) then return found and 'waiting' or 'repeated' end
  local since = found and string.match(found, '^%S+') or changes.now()
  redis.call('HSET', waiting, person, since .. ' ' .. wish)
  return 'waiting'
end

function changes.leave(person)
  redis.call('HDEL', waiting, person)
  return pairing_of(person) and 0 or 1
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
  for index = 1, #given, 2 do
    local person, text = given[index], given[index + 1]
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

-- The stored texts begin with the start of the search, so people keep their places.
function changes.end_pairing(code, ...)
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
