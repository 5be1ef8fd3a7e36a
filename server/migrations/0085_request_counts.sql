-- Requests of the current minute of each caller, counted by all processes together. The table is
-- unlogged: a crash or the promotion of a standby starts every count again.
create unlogged table request_counts (
  caller text primary key check (length(caller) <= 100),
  window_started_at timestamptz(3) not null,
  used integer not null
) with (fillfactor = 50);
