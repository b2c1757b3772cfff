-- What an account or a plan says about bounds, as a JSON object of names and numbers; null says nothing.
alter table plans add column quota text;
alter table users add column quota text;

-- When each user last had a job taken: whoever waited longest is next.
alter table users add column served_at bigint;

-- What is in each box, so that an upload need not count it. Triggers keep it, whoever writes.
create table box_sizes (
    box_id text primary key references boxes (id) on delete cascade,
    files bigint not null,
    -- of the originals, with those of new versions that wait
    bytes bigint not null,
    -- files that wait or are being read
    queued bigint not null
);
insert into box_sizes (box_id, files, bytes, queued)
select b.id,
       (select count(*) from files f where f.box_id = b.id),
       (select cast(coalesce(sum(f.size + coalesce(f.next_size, 0)), 0) as bigint) from files f where f.box_id = b.id),
       (select count(*) from jobs j where j.box_id = b.id)
from boxes b;
