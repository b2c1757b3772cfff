-- Places elsewhere that boxes follow.
create table sources (
    id text primary key,
    box_id text not null references boxes (id) on delete cascade,
    -- web, git, s3
    kind text not null,
    -- JSON; may hold a secret
    settings text not null,
    -- null: only when somebody asks
    every_s bigint,
    delete_missing bigint not null,
    created_at bigint not null,
    due_at bigint,
    may_delete_many bigint not null,
    -- somebody is at it until then
    taken_until bigint,
    last_at bigint,
    -- JSON
    report text
);
create index sources_by_box on sources (box_id);
create index sources_due on sources (due_at);

-- Which file is what there.
create table source_items (
    source_id text not null references sources (id) on delete cascade,
    name text not null,
    file_id text not null references files (id) on delete cascade,
    version text not null,
    sha256 text not null,
    primary key (source_id, name)
);
create index source_items_by_file on source_items (file_id);
