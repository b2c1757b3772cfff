-- What people asked a box and were answered, each by themselves.
create table conversations (
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    box_id text not null references boxes (id) on delete cascade,
    title text not null,
    -- turns so far, which numbers them
    turns bigint not null,
    changed_at bigint not null
);
create index conversations_by_person on conversations (user_id, box_id, changed_at);
create index conversations_by_box on conversations (box_id);
create index conversations_by_age on conversations (changed_at);

create table conversation_turns (
    conversation_id text not null references conversations (id) on delete cascade,
    number bigint not null,
    question text not null,
    -- null: a file that it cited was deleted
    answer text,
    -- a JSON array
    citations text not null,
    at bigint not null,
    primary key (conversation_id, number)
);

-- Which files an answer cites, so that it goes with them.
create table conversation_files (
    conversation_id text not null references conversations (id) on delete cascade,
    number bigint not null,
    file_id text not null references files (id) on delete cascade,
    primary key (file_id, conversation_id, number)
);
create index conversation_files_by_conversation on conversation_files (conversation_id);
