-- The dashboard: who is signed in, who may come in, and what was done.

alter table users add column name text;
-- 1: looks after the whole server
alter table users add column operator bigint not null default 0;

create table sessions (
    id text primary key,
    -- SHA-256 of the token in the browser; the token itself is nowhere
    token_hash text not null unique,
    user_id text not null references users (id) on delete cascade,
    agent text not null,
    address text not null,
    created_at bigint not null,
    seen_at bigint not null,
    expires_at bigint not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

-- Tries to sign in that were not right, by account and by network.
create table sign_in_tries (
    subject text primary key,
    failures bigint not null,
    last_at bigint not null
);

-- Who somebody is at an OpenID provider.
create table identities (
    issuer text not null,
    subject text not null,
    user_id text not null references users (id) on delete cascade,
    created_at bigint not null,
    primary key (issuer, subject)
);
create index identities_by_user on identities (user_id);

create table one_time_links (
    id text primary key,
    token_hash text not null unique,
    -- set_up, join or reset
    purpose text not null,
    -- join, reset
    email text,
    -- set_up, reset: of an account that is there
    user_id text references users (id) on delete cascade,
    -- join
    plan text references plans (name),
    box_id text references boxes (id) on delete cascade,
    role text,
    made_by text references users (id) on delete set null,
    created_at bigint not null,
    expires_at bigint not null
);
create index one_time_links_by_box on one_time_links (box_id);

-- No references: what was done stays known when what it was done to is gone.
create table audit (
    id text primary key,
    at bigint not null,
    user_id text,
    who text not null,
    address text not null,
    box_id text,
    action text not null,
    target text not null
);
create index audit_by_box on audit (box_id, id);
