-- Files that are in no box yet, until they expire.
create table uploads (
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    name text not null,
    purpose text not null,
    sha256 text not null,
    size bigint not null,
    media_type text not null,
    created_at bigint not null,
    expires_at bigint not null
);
create index uploads_by_user on uploads (user_id, id);
create index uploads_by_expiry on uploads (expires_at);
create index uploads_by_original on uploads (sha256);

-- Files that were put into a box together: a JSON array of their names.
create table batches (
    id text primary key,
    box_id text not null references boxes (id) on delete cascade,
    files text not null,
    created_at bigint not null,
    -- 1: called off
    cancelled bigint not null default 0
);
create index batches_by_box on batches (box_id);

-- What programs say about a box: a JSON object.
create table box_notes (
    box_id text primary key references boxes (id) on delete cascade,
    notes text not null
);
