-- How many turns everybody in the box may read; null: none.
alter table conversations add column shared_turns bigint;
