-- Intelligence units, and requests that carry an Idempotency-Key. Months and days are UTC: 2026-11, 2026-11-15.

-- What quotas are held against.
create table unit_months (
    user_id text not null references users (id) on delete cascade,
    month text not null,
    used bigint not null,
    primary key (user_id, month)
);

-- The same charges for the report: one row a day, key and operation, however many calls.
create table unit_days (
    user_id text not null references users (id) on delete cascade,
    day text not null,
    key_prefix text not null,
    operation text not null,
    calls bigint not null,
    units bigint not null,
    primary key (user_id, day, key_prefix, operation)
);

-- Calls under way and what each may still cost.
create table unit_reservations (
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    month text not null,
    day text not null,
    key_prefix text not null,
    operation text not null,
    units bigint not null,
    -- 1: the call has ended and costs this much, charged together with the end of its attempt
    settled bigint not null,
    attempt_id text,
    expires_at bigint not null
);
create index unit_reservations_by_user on unit_reservations (user_id, month);
create index unit_reservations_by_attempt on unit_reservations (attempt_id);

-- One row an idempotency key in use: its request is being worked on, or was answered.
create table attempts (
    id text primary key,
    key_prefix text not null references keys (prefix) on delete cascade,
    name text not null,
    request text not null,
    rights text not null,
    -- 0: what it will answer may hold what was deleted meanwhile, so its answer is not kept
    keep bigint not null,
    request_body text,
    -- null: being worked on
    status bigint,
    content_type text,
    answer text,
    expires_at bigint not null,
    unique (key_prefix, name)
);
create index attempts_by_expiry on attempts (expires_at);
