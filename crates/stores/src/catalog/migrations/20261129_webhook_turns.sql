-- Which events are being sent, to see whose turn it is.
create index deliveries_taken on deliveries (taken_until);
