-- When a file is deleted by itself; null: never, unless its box says so.
alter table files add column expires_at bigint;
create index files_by_expiry on files (expires_at) where expires_at is not null;
-- When the bytes in place came in; null: when the file was created.
alter table files add column uploaded_at bigint;
-- After how many days the files of a box are deleted; null: never.
alter table boxes add column retention_days bigint;
