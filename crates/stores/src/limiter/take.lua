-- Counts one request in the windows of a key and of its user, or says why not; counts nothing where ARGV[6] is 0.
-- KEYS: the key's window, the user's window. ARGV: now in ms, the key's limit and window in ms, the user's the same.

local now = tonumber(ARGV[1])

local function window(name, length)
    local known = redis.call('hmget', name, 'opened', 'hits')
    local opened, hits = tonumber(known[1]), tonumber(known[2])
    -- One that opens more than a minute ahead was opened by a clock that has been set back since.
    if opened and opened + length > now and opened <= now + 60000 then
        return opened, hits
    end
    -- On the whole second, so that the reset that is announced is exact.
    return now - now % 1000, 0
end

local key_limit, key_length = tonumber(ARGV[2]), tonumber(ARGV[3])
local user_limit, user_length = tonumber(ARGV[4]), tonumber(ARGV[5])
local key_opened, key_hits = window(KEYS[1], key_length)
local user_opened, user_hits = window(KEYS[2], user_length)

local refused = 0
if key_hits >= key_limit then
    refused = 1
elseif user_hits >= user_limit then
    refused = 2
elseif ARGV[6] == '1' then
    key_hits, user_hits = key_hits + 1, user_hits + 1
    redis.call('hset', KEYS[1], 'opened', key_opened, 'hits', key_hits)
    redis.call('pexpire', KEYS[1], key_length + 60000)
    redis.call('hset', KEYS[2], 'opened', user_opened, 'hits', user_hits)
    redis.call('pexpire', KEYS[2], user_length + 60000)
end
return {refused, key_opened, key_hits, user_opened, user_hits}
