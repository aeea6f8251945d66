-- Sets fields of a duel, unless the duel is missing or closed, or already has the first field.
-- A duel with an opponent cannot be declined or withdrawn.
--
-- KEYS  the duel
-- ARGV  names and values of fields
-- Returns 1 if the fields were set, -1 if the duel is missing or closed, 0 if they were not set for another reason.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], 'closed') == 1 then return -1 end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 0 end
local is_refusal = ARGV[1] == 'closed' and (ARGV[2] == 'declined' or ARGV[2] == 'cancelled')
if is_refusal and redis.call('HEXISTS', KEYS[1], 'player:1') == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
