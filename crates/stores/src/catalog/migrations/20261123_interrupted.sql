-- 1: work on the file was cut off since it was last read, so the index may hold a version that was never noted here.
alter table files add column interrupted bigint not null default 0;
