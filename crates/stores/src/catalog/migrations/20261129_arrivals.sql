-- Until when a box that is being brought in may stay without a word from whoever brings it; null: it is none. While it is
-- set, deleting_at is too, so that nobody sees the box.
alter table boxes add column arriving_until bigint;
