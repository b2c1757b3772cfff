-- Questions that went wrong, and for a while those that can still be rated. Never who asked; nothing of any document.
create table questions (
    -- the number in the id of the request and of the answer
    id text not null,
    box_id text not null references boxes (id) on delete cascade,
    operation text not null,
    text text not null,
    -- what questions that are alike have in common
    likeness text not null,
    -- answered, low, unanswered
    outcome text not null,
    -- thousandths; null: nothing was found
    score bigint,
    -- 1 or -1
    rating bigint,
    comment text,
    asked_at bigint not null,
    -- 0: only there so that it can be rated, and shown to nobody
    kept bigint not null,
    primary key (id, box_id)
);
create index questions_by_box on questions (box_id, asked_at);
create index questions_alike on questions (box_id, likeness);
create index questions_by_age on questions (asked_at);
