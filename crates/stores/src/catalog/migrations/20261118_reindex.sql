-- Boxes to be indexed anew, and the queries that tell whether it changed anything.

create table reindexes (
    box_id text primary key references boxes (id) on delete cascade,
    action text not null,
    -- wanted, running, done or failed
    state text not null,
    done bigint not null,
    total bigint not null,
    -- the report, or why it failed
    note text,
    asked_at bigint not null
);

create table recent_queries (
    box_id text not null references boxes (id) on delete cascade,
    query text not null,
    -- JSON list of file and page
    found text not null,
    asked_at bigint not null,
    primary key (box_id, query)
);
