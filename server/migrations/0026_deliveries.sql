-- Webhook deliveries of code hosts: stored before they are answered, applied by jobs.

create table codehost_deliveries (
  -- The host's id of the delivery.
  id text collate "C" not null check (length(id) between 1 and 100),
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  -- The order of receipt.
  number bigint not null generated always as identity,
  event text not null check (length(event) between 1 and 100),
  action text check (length(action) between 1 and 100),
  installation_id text collate "C" check (length(installation_id) between 1 and 100),
  -- Deliveries of one object have the same lane, and are applied in order.
  lane text collate "C" not null check (length(lane) between 1 and 200),
  -- Derived from the lane. Each shard is applied by one job at a time.
  shard smallint not null check (shard >= 0),
  received_at timestamptz(3) not null,
  -- The body as it was received. Null after it has expired.
  payload text,
  status text not null default 'received' check (status in ('received', 'applied', 'ignored', 'failed')),
  -- True while its installation is not connected.
  waiting boolean not null default false,
  -- Counted before each try.
  attempts smallint not null default 0 check (attempts >= 0),
  -- Not before this time after a failed try.
  next_try_at timestamptz(3),
  error text,
  applied_at timestamptz(3),
  primary key (id, provider),
  check (not waiting or status = 'received'),
  check (next_try_at is null or status = 'received'),
  check ((applied_at is not null) = (status in ('applied', 'ignored')))
);

create index codehost_deliveries_pending on codehost_deliveries (shard, number)
  where status = 'received' and not waiting;
create index codehost_deliveries_paused on codehost_deliveries (shard) where next_try_at is not null;
create index codehost_deliveries_waiting on codehost_deliveries (provider, installation_id) where waiting;
create index codehost_deliveries_failed on codehost_deliveries (number) where status = 'failed';
create index codehost_deliveries_by_number on codehost_deliveries (number);
create index codehost_deliveries_by_age on codehost_deliveries using brin (received_at);
create index codehost_deliveries_with_payload on codehost_deliveries (applied_at)
  where payload is not null and applied_at is not null;

-- The order in which calls were requested.
alter table codehost_calls add column number bigint not null generated always as identity;

create index codehost_calls_unsuccessful on codehost_calls (ended_at) where status in ('failed', 'refused');
