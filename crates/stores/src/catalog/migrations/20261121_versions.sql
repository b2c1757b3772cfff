-- How many of these steps the program of a node knows; null: it is of a version that does not say.
alter table nodes add column knows bigint;
