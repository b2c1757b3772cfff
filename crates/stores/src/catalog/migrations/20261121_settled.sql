-- A charge stays for a minute once it is made (settled = 2), so that whoever did not hear of its commit can look it up. What is
-- held and used is added up without those.
create index unit_reservations_open on unit_reservations (user_id, month) where settled < 2;
