-- Counts a person's guess of a code, or takes one back, by GCRA and the store's clock.
--
-- KEYS  due time of the next guess, Unix milliseconds; expires then
-- ARGV  1 to count, -1 to take back; burst; milliseconds between guesses
-- Returns 0 if it was counted, otherwise the milliseconds to wait.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local interval = tonumber(ARGV[3])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = due - (tonumber(ARGV[2]) - 1) * interval - now
if ARGV[1] == '1' and wait > 0 then return math.ceil(wait) end
due = due + tonumber(ARGV[1]) * interval
if due <= now then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.format('%d', due), 'PX', due - now)
end
return 0
