-- The only web sites whose pages may use an API key, separated by spaces; those that exist are for programs.
alter table keys add column origins text not null default '';
