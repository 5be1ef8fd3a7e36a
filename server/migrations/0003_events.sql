-- What happened, for live updates and for what others are told (specification, "Events"). A row is
-- written in the statement that queues the event's job. `data` has the ids of the event, `subject`
-- is {type, id, repository, url}, `actor` and `cause` are null where they are not known.
create table events (
  org_id uuid not null references organizations (id),
  id uuid not null default gen_random_uuid(),
  type text not null,
  version smallint not null,
  created_at timestamptz(3) not null default now(),
  actor jsonb,
  subject jsonb not null,
  cause jsonb,
  data jsonb not null,
  previous jsonb,
  -- In the order in which rows are read and expire: no other index is needed.
  primary key (org_id, created_at, id)
);
