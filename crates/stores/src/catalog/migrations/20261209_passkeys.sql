-- Public keys of authenticators, each of which signs its holder in.
create table passkeys (
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    name text not null,
    -- the name of the host at which it works
    host text not null,
    -- what its authenticator calls it, and its key (COSE), both in hexadecimal digits
    credential text not null unique,
    public_key text not null,
    sign_count bigint not null,
    created_at bigint not null,
    used_at bigint
);
create index passkeys_of_user on passkeys (user_id);

-- Challenges that were answered, until they expire: none is good twice.
create table used_challenges (
    challenge_hash text primary key,
    expires_at bigint not null
);
