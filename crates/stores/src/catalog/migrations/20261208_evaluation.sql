-- Questions whose answers are known, to measure a box with.
create table evaluation_questions (
    id text primary key,
    box_id text not null references boxes (id) on delete cascade,
    text text not null,
    -- a JSON object, empty until somebody says what is right
    expected text not null
);
create index evaluation_questions_by_box on evaluation_questions (box_id);

-- How evaluations went.
create table evaluation_runs (
    id text primary key,
    box_id text not null references boxes (id) on delete cascade,
    at bigint not null,
    questions bigint not null,
    -- those that name what a search should find, and those of them that it found among the first results
    searched bigint not null,
    found_1 bigint not null,
    found_3 bigint not null,
    found_10 bigint not null,
    -- thousandths
    ndcg bigint not null,
    answered_right bigint not null,
    unanswerable bigint not null,
    refused bigint not null,
    latency_ms bigint not null,
    units bigint not null,
    -- a JSON array; null: an older evaluation
    results text
);
create index evaluation_runs_by_box on evaluation_runs (box_id, at);
