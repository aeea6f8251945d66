-- Keeps a program, if there is room for a new one. A known program is always replaced.
--
-- KEYS  programs
-- ARGV  an id, the program, its owner or ''; the maximum number of programs: in all, of people, of this owner
-- Returns whether it is kept.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
  if ARGV[3] ~= '' then
    local peoples, own = 0, 0
    for _, text in ipairs(redis.call('HVALS', KEYS[1])) do
      local owner = cjson.decode(text).owner
      if owner then peoples = peoples + 1 end
      if owner == ARGV[3] then own = own + 1 end
    end
    if peoples >= tonumber(ARGV[5]) or own >= tonumber(ARGV[6]) then return 0 end
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
