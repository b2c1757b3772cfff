-- The trace of whoever asked for a file to be read, and of what an event is about.
alter table jobs add column trace text;
alter table deliveries add column trace text;
