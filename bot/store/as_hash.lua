-- Convert the key of the tables that are set aside from a set to a hash. Other scripts begin with this text.
--
-- An earlier layout stored only codes. The hash also stores the seconds left on each table's clock. For
-- converted entries they are unknown: "".
local function as_hash(set_aside)
  if redis.call('TYPE', set_aside).ok ~= 'set' then return end
  local codes = redis.call('SMEMBERS', set_aside)
  redis.call('DEL', set_aside)
  for _, code in ipairs(codes) do redis.call('HSET', set_aside, code, '') end
end
