-- The key that an upload came by: a key that is restricted to boxes has no others.
alter table uploads add column key_prefix text not null default '';
