-- Files, their labels, and the queue of those to be read.

create table files (
    id text primary key,
    box_id text not null references boxes (id) on delete cascade,
    name text not null,
    external_id text,
    sha256 text not null,
    size bigint not null,
    media_type text not null,
    status text not null,
    progress_done bigint not null,
    progress_total bigint,
    error text,
    -- JSON list of texts
    warnings text not null,
    language text,
    -- JSON object
    metadata text not null,
    pages bigint not null,
    characters bigint not null,
    chunks bigint not null,
    -- a new version that is being read while the old one stays in place
    next_sha256 text,
    next_size bigint,
    next_name text,
    created_at bigint not null,
    updated_at bigint not null,
    indexed_at bigint
);
create index files_by_box on files (box_id, created_at, id);
create index files_by_original on files (sha256);
create index files_by_next_original on files (next_sha256);
create unique index files_by_external_id on files (box_id, external_id);

create table file_tags (
    file_id text not null references files (id) on delete cascade,
    tag text not null,
    primary key (file_id, tag)
);
create index file_tags_by_tag on file_tags (tag);

-- One row a file that waits or is being read; gone when it was.
create table jobs (
    id text primary key,
    file_id text not null unique references files (id) on delete cascade,
    box_id text not null references boxes (id) on delete cascade,
    -- null: waiting
    worker text,
    heard_at bigint,
    due_at bigint not null,
    failures bigint not null,
    starts bigint not null,
    created_at bigint not null
);
create index jobs_by_turn on jobs (worker, box_id, due_at);

-- When each box last had a job taken: whoever waited longest is next.
alter table boxes add column served_at bigint;

-- What all nodes share and nobody sets.
create table secrets (
    name text primary key,
    value text not null
);
