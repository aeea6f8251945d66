-- Prefix of other scripts. An earlier layout kept a shard's tables that are set aside in a set, without the time left
-- on their clocks.
local function as_hash(set_aside)
  if redis.call('TYPE', set_aside).ok ~= 'set' then return end
  local codes = redis.call('SMEMBERS', set_aside)
  redis.call('DEL', set_aside)
  for _, code in ipairs(codes) do redis.call('HSET', set_aside, code, '') end
end
