-- Count a message to a chat for all workers, by GCRA and the store's clock.
--
-- KEYS  when the next message is due, Unix milliseconds; deleted after that
-- ARGV  burst; milliseconds between messages; messages sent before this one that were not counted
-- Returns 0 if the message was counted, otherwise the milliseconds to wait.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local burst, interval, uncounted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
-- A clock that was set back or a long outage must not close the chat for longer than the burst takes to fill.
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + uncounted * interval
due = math.min(due, now + burst * interval)
local wait = due - (burst - 1) * interval - now
if wait <= 0 then due = due + interval end
if wait <= 0 or uncounted > 0 then redis.call('SET', KEYS[1], string.format('%d', due), 'PX', due - now) end
return math.max(0, math.ceil(wait))
