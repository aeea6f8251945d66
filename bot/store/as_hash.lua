-- Goes before the scripts that need it. An earlier form of this layout kept the tables of a shard that are set aside as a
-- set; what their clocks had left is not known then.
local function as_hash(set_aside)
  if redis.call('TYPE', set_aside).ok ~= 'set' then return end
  local codes = redis.call('SMEMBERS', set_aside)
  redis.call('DEL', set_aside)
  for _, code in ipairs(codes) do redis.call('HSET', set_aside, code, '') end
end
