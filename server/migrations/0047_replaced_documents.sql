-- Documents of a tool that another one has replaced (docs/inventory.md, "Present and removed"): how many
-- documents others have sent since its last one, and since when what it contains no longer counts.
alter table inventory_streams
  add column if not exists others integer not null default 0,
  add column if not exists ended_at timestamptz(3);
