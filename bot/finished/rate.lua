-- Rates a game, unless another was rated or a chat has moved since the ratings were read.
--
-- KEYS  number of the last rated game, the game's changes, chats that have moved, games of the day by opponents; then
--       each scope's ratings, ranks, history
-- ARGV  number of the game rated before, the game's number, its changes or "", seconds to keep them, how many chats
--       had moved; the game's day, that day's key, its pairs of opponents as JSON or "" if it is not rated; then for
--       each standing: index of the scope, person, standing, history or "", shown or ""
-- Returns whether the game was rated.
if tonumber(redis.call('GET', KEYS[1]) or '0') ~= tonumber(ARGV[1]) then return 0 end
if redis.call('HLEN', KEYS[3]) ~= tonumber(ARGV[5]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[4]) end
if ARGV[8] ~= '' then
  local day = tonumber(redis.call('HGET', KEYS[4], 'day') or '-1')
  if tonumber(ARGV[6]) > day then
    redis.call('DEL', KEYS[4])
    redis.call('HSET', KEYS[4], 'day', ARGV[6], 'key', ARGV[7])
  end
  if tonumber(ARGV[6]) >= day then
    for _, pair in ipairs(cjson.decode(ARGV[8])) do redis.call('HINCRBY', KEYS[4], pair, 1) end
  end
end
for place = 9, #ARGV, 5 do
  local scope = tonumber(ARGV[place])
  redis.call('HSET', KEYS[5 + 3 * scope], ARGV[place + 1], ARGV[place + 2])
  if ARGV[place + 3] ~= '' then redis.call('HSET', KEYS[7 + 3 * scope], ARGV[place + 1], ARGV[place + 3]) end
  if ARGV[place + 4] ~= '' then redis.call('ZADD', KEYS[6 + 3 * scope], ARGV[place + 4], ARGV[place + 1]) end
end
return 1
