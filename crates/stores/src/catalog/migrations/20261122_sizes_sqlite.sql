-- Keeps box_sizes true. A box that goes away takes its row with it, so nothing is put there but by an insert.

create trigger box_sizes_box after insert on boxes begin
    insert into box_sizes (box_id, files, bytes, queued) values (new.id, 0, 0, 0);
end;
create trigger box_sizes_file_added after insert on files begin
    update box_sizes set files = files + 1, bytes = bytes + new.size + coalesce(new.next_size, 0)
    where box_id = new.box_id;
end;
create trigger box_sizes_file_changed after update of size, next_size on files begin
    update box_sizes
    set bytes = bytes + new.size + coalesce(new.next_size, 0) - old.size - coalesce(old.next_size, 0)
    where box_id = new.box_id;
end;
create trigger box_sizes_file_removed after delete on files begin
    update box_sizes set files = files - 1, bytes = bytes - old.size - coalesce(old.next_size, 0)
    where box_id = old.box_id;
end;
create trigger box_sizes_job_added after insert on jobs begin
    update box_sizes set queued = queued + 1 where box_id = new.box_id;
end;
create trigger box_sizes_job_removed after delete on jobs begin
    update box_sizes set queued = queued - 1 where box_id = old.box_id;
end;
