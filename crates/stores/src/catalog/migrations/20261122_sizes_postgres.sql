-- Keeps box_sizes true. A box that goes away takes its row with it, so nothing is put there but by an insert.

create function box_sizes_box() returns trigger language plpgsql as $$ begin
    insert into box_sizes (box_id, files, bytes, queued) values (new.id, 0, 0, 0);
    return null;
end $$;
create trigger box_sizes_box after insert on boxes for each row execute function box_sizes_box();

create function box_sizes_file() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
        update box_sizes set files = files + 1, bytes = bytes + new.size + coalesce(new.next_size, 0)
        where box_id = new.box_id;
    elsif tg_op = 'UPDATE' then
        update box_sizes
        set bytes = bytes + new.size + coalesce(new.next_size, 0) - old.size - coalesce(old.next_size, 0)
        where box_id = new.box_id;
    else
        update box_sizes set files = files - 1, bytes = bytes - old.size - coalesce(old.next_size, 0)
        where box_id = old.box_id;
    end if;
    return null;
end $$;
create trigger box_sizes_file after insert or delete or update of size, next_size on files
    for each row execute function box_sizes_file();

create function box_sizes_job() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
        update box_sizes set queued = queued + 1 where box_id = new.box_id;
    else
        update box_sizes set queued = queued - 1 where box_id = old.box_id;
    end if;
    return null;
end $$;
create trigger box_sizes_job after insert or delete on jobs for each row execute function box_sizes_job();
