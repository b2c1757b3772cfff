-- Whom to tell of what happens.
create table webhooks (
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    url text not null,
    -- names, separated by commas
    events text not null,
    -- 1: only for the boxes in webhook_boxes
    scoped bigint not null,
    secret text not null,
    -- the secret before, which signs too until then
    old_secret text,
    old_until bigint,
    -- attempts so far, which numbers them
    attempts bigint not null,
    created_at bigint not null,
    disabled_at bigint
);
create index webhooks_by_user on webhooks (user_id);

create table webhook_boxes (
    webhook_id text not null references webhooks (id) on delete cascade,
    box_id text not null references boxes (id) on delete cascade,
    primary key (webhook_id, box_id)
);

-- What is still to be told to whom, and what was told lately.
create table deliveries (
    id text primary key,
    webhook_id text not null references webhooks (id) on delete cascade,
    event_id text not null,
    kind text not null,
    -- null: about no box
    box_id text references boxes (id) on delete cascade,
    -- events of one subject are delivered in their order, which seq has
    subject text not null,
    seq bigint not null,
    body text not null,
    created_at bigint not null,
    due_at bigint not null,
    tries bigint not null,
    -- somebody is at it until then
    taken_until bigint,
    done_at bigint
);
create index deliveries_due on deliveries (done_at, due_at);
create index deliveries_by_subject on deliveries (webhook_id, subject, seq);
create index deliveries_by_box on deliveries (box_id);
create index deliveries_in_order on deliveries (seq);

create table delivery_attempts (
    webhook_id text not null references webhooks (id) on delete cascade,
    number bigint not null,
    delivery_id text not null references deliveries (id) on delete cascade,
    at bigint not null,
    duration_ms bigint not null,
    status bigint,
    error text,
    primary key (webhook_id, number)
);
create index delivery_attempts_by_delivery on delivery_attempts (delivery_id);
