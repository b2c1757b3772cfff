-- What an API key may be used for. Those that exist may be used for everything, as before.
alter table keys add column permissions text not null default 'search,read,write,manage';
