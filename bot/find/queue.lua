-- Changes the queue of those who look for an opponent, in one step. Each may be asked twice.
--
-- KEYS  waiting, asked, pairings, due
-- ARGV  what to do, then what it wants:
--   look PERSON WISH            wait, or wait on with another wish. Returns 1; 0 if the person is asked just now
--   leave PERSON                wait no more; who is asked answers no. Returns 1; 0 if it is too late, the table opens
--   pair CODE GAME SECONDS PERSON TEXT PERSON TEXT
--                               ask two who wait, if their texts are still these. Returns 1, or 0
--   answer CODE PERSON READY    READY is 1 or 0. Returns "asked", "ready" once both are, "parted", or "gone"
--   expire CODE                 the time to answer may be up. Returns as for answer
--   opened CODE                 the table of two who are ready is there. Returns 1, or 0
--   due                         codes of pairings whose time is up, or both are ready
local waiting, asked, pairings, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local function now()
  local time = redis.call('TIME')
  return time[1] + time[2] / 1000000
end

local function pairing_of(code)
  local text = redis.call('HGET', pairings, code)
  return text and cjson.decode(text)
end

local function both_ready(pairing)
  return pairing.ready[1] and pairing.ready[2]
end

local function remove(code, pairing)
  redis.call('HDEL', asked, unpack(pairing.people))
  redis.call('HDEL', pairings, code)
  redis.call('ZREM', due, code)
end

-- Whoever stays goes back to the place they had: the text says since when they wait.
local function part(code, pairing, stays)
  remove(code, pairing)
  for seat = 1, 2 do
    if stays[seat] then redis.call('HSET', waiting, pairing.people[seat], pairing.texts[seat]) end
  end
  return 'parted'
end

local function answer(code, person, ready)
  local pairing = pairing_of(code)
  if not pairing then return 'gone' end
  local seat = (pairing.people[1] == person and 1) or (pairing.people[2] == person and 2)
  if not seat then return 'gone' end
  if both_ready(pairing) then return 'ready' end
  if not ready then return part(code, pairing, { seat ~= 1, seat ~= 2 }) end
  pairing.ready[seat] = true
  redis.call('HSET', pairings, code, cjson.encode(pairing))
  if not both_ready(pairing) then return 'asked' end
  redis.call('ZADD', due, string.format('%.6f', now()), code)
  return 'ready'
end

local changes = {}

function changes.look(person, wish)
  if redis.call('HEXISTS', asked, person) == 1 then return 0 end
  local found = redis.call('HGET', waiting, person)
  local since = found and string.match(found, '^%S+') or string.format('%.6f', now())
  redis.call('HSET', waiting, person, since .. ' ' .. wish)
  return 1
end

function changes.leave(person)
  redis.call('HDEL', waiting, person)
  local code = redis.call('HGET', asked, person)
  if code and answer(code, person, false) == 'ready' then return 0 end
  return 1
end

function changes.pair(code, game, seconds, one, text, other, other_text)
  if redis.call('HEXISTS', pairings, code) == 1 then return 1 end
  if one == other then return 0 end
  if redis.call('HGET', waiting, one) ~= text or redis.call('HGET', waiting, other) ~= other_text then return 0 end
  local pairing = { game = game, people = { one, other }, texts = { text, other_text }, ready = { false, false } }
  redis.call('HDEL', waiting, one, other)
  redis.call('HSET', asked, one, code, other, code)
  redis.call('HSET', pairings, code, cjson.encode(pairing))
  redis.call('ZADD', due, string.format('%.6f', now() + seconds), code)
  return 1
end

function changes.answer(code, person, ready)
  return answer(code, person, ready == '1')
end

function changes.expire(code)
  local pairing = pairing_of(code)
  if not pairing then return 'gone' end
  if both_ready(pairing) then return 'ready' end
  if tonumber(redis.call('ZSCORE', due, code)) > now() then return 'asked' end
  return part(code, pairing, pairing.ready)
end

function changes.opened(code)
  local pairing = pairing_of(code)
  if not pairing or not both_ready(pairing) then return 0 end
  remove(code, pairing)
  return 1
end

function changes.due()
  return redis.call('ZRANGEBYSCORE', due, '-inf', string.format('%.6f', now()))
end

return changes[ARGV[1]](unpack(ARGV, 2))
