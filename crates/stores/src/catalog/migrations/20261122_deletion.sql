-- When the deletion of a box began; null: it stays. Its record goes last, when nothing else of it is left.
alter table boxes add column deleting_at bigint;
-- It is looked every second whether a deletion is to be finished.
create index boxes_deleting on boxes (deleting_at) where deleting_at is not null;
create index files_deleting on files (box_id) where status = 'deleting';

-- Only a file that can be read has a newer version waiting beside it. Where one was read again before its newer version
-- was, that one is what is to be read.
update files set sha256 = next_sha256, size = coalesce(next_size, size), name = coalesce(next_name, name)
    where indexed_at is null and next_sha256 is not null;
update files set next_sha256 = null, next_size = null, next_name = null where indexed_at is null;
