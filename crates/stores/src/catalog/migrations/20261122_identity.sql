-- Whose address an account really has, who may take it over, and where its people usually sign in.

-- 1: an operator or a provider vouches that the address belongs to whoever holds the account
alter table users add column vouched bigint not null default 0;
-- whose invitation made the account, where that was no operator's; no reference, so that accounts copy in any order
alter table users add column invited_by text;
-- 1: an operator lets the next sign-in with a provider that vouches for the address take the account over
alter table users add column awaits_identity bigint not null default 0;

-- Accounts from before count as vouched for, except those that a member of a box may have made: they accepted an
-- invitation to a box, and none to the server.
update users set vouched = 1 where operator = 1
    or exists (select 1 from audit a where a.user_id = users.id and a.action = 'account_made')
    or not exists (select 1 from audit a where a.user_id = users.id and a.action = 'member_added'
                   and a.target like users.email || ' as %');

create index one_time_links_by_maker on one_time_links (made_by);
create index one_time_links_by_email on one_time_links (email);

-- Networks and browsers from which somebody signed in before.
create table known_places (
    user_id text not null references users (id) on delete cascade,
    place text not null,
    seen_at bigint not null,
    primary key (user_id, place)
);

create index sign_in_tries_by_time on sign_in_tries (last_at);
