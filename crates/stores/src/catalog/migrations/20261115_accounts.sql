-- Accounts, boxes, roles and keys. Times are milliseconds since 1970, identifiers are text as on the wire.

create table plans (
    name text primary key,
    -- null: the units.monthly setting decides
    monthly_units bigint
);
insert into plans (name, monthly_units) values ('standard', null);

create table users (
    id text primary key,
    email text not null unique,
    -- Argon2id in PHC form; null cannot sign in
    password_hash text,
    plan text not null references plans (name),
    -- null: the plan decides
    monthly_units bigint,
    disabled_at bigint,
    created_at bigint not null
);

create table boxes (
    id text primary key,
    name text not null,
    created_at bigint not null
);

create table memberships (
    box_id text not null references boxes (id) on delete cascade,
    user_id text not null references users (id) on delete cascade,
    role text not null,
    created_at bigint not null,
    primary key (box_id, user_id)
);
create index memberships_by_user on memberships (user_id);

create table keys (
    prefix text primary key,
    user_id text not null references users (id) on delete cascade,
    name text not null,
    -- SHA-256 of the secret; the secret itself is nowhere
    secret_hash text not null,
    -- 1: good for the boxes in key_boxes only, even when none is left
    scoped bigint not null,
    expires_at bigint,
    revoked_at bigint,
    exposed_at bigint,
    exposed_how text,
    last_used_at bigint,
    created_at bigint not null
);
create index keys_by_user on keys (user_id);

create table key_boxes (
    prefix text not null references keys (prefix) on delete cascade,
    box_id text not null references boxes (id) on delete cascade,
    primary key (prefix, box_id)
);

-- One row; grows with every change that decides who may do what.
create table access_version (
    one bigint primary key check (one = 1),
    version bigint not null
);
insert into access_version (one, version) values (1, 1);
