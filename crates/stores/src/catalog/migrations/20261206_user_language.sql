-- The language that somebody wants the dashboard in; null: their browser's.
alter table users add column language text;
