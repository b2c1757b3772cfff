-- What accounts ask for after the password.
create table second_factors (
    user_id text primary key references users (id) on delete cascade,
    secret text not null,
    -- 0 until its holder has shown a code
    confirmed bigint not null,
    -- the latest step of time whose code was used
    last_step bigint not null
);

-- Codes that work once, for whoever has lost their authenticator.
create table recovery_codes (
    user_id text not null references second_factors (user_id) on delete cascade,
    code_hash text not null,
    primary key (user_id, code_hash)
);
