-- Delete a person from the log of levers, and the texts of their entries.
--
-- KEYS  pulls
-- ARGV  person
for index, text in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local pull = cjson.decode(text)
  if pull.person == ARGV[1] then
    pull.person, pull.text = '', ''
    redis.call('LSET', KEYS[1], index - 1, cjson.encode(pull))
  end
end
return 1
