-- The nodes that share this catalog, and what each has under way: taken over when it is not heard of any more.

create table nodes (
    id text primary key,
    heard_at bigint not null
);

alter table unit_reservations add column node text;
create index unit_reservations_by_node on unit_reservations (node);
alter table attempts add column node text;
create index attempts_by_node on attempts (node);
alter table reindexes add column node text;

-- Which of several indexes has the box; null: none yet.
alter table boxes add column shard bigint;
