-- What language a box is for: auto, english or multilingual.
alter table boxes add column language text not null default 'auto';
-- When a box that was auto turned multilingual; it never turns back by itself.
alter table boxes add column changed_over_at bigint;
