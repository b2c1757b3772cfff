-- Programs that have registered themselves.
create table clients (
    id text primary key,
    name text not null,
    -- a JSON array
    redirect_uris text not null,
    network text not null,
    created_at bigint not null,
    -- when somebody last let it in
    used_at bigint
);
create index clients_by_network on clients (network, created_at);

-- What somebody has just allowed, until a program exchanges it.
create table authorization_codes (
    code_hash text primary key,
    user_id text not null references users (id) on delete cascade,
    client_id text not null,
    client_name text not null,
    redirect_uri text not null,
    challenge text not null,
    audience text not null,
    box_id text references boxes (id) on delete cascade,
    permissions text not null,
    expires_at bigint not null,
    -- the grant that was made of it
    prefix text references keys (prefix) on delete cascade
);
create index authorization_codes_by_user on authorization_codes (user_id);
create index authorization_codes_by_box on authorization_codes (box_id);
create index authorization_codes_by_prefix on authorization_codes (prefix);

-- What programs were granted: keys whose secret changes. keys.secret_hash is of the half of a refresh token that stays.
create table grants (
    prefix text primary key references keys (prefix) on delete cascade,
    client_id text not null,
    -- the only path that its tokens are valid at
    audience text not null,
    turn_hash text not null,
    access_hash text not null,
    access_until bigint not null,
    -- the access token before, which works on for its time
    earlier_hash text,
    earlier_until bigint
);
