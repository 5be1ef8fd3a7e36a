-- run: statement by statement
-- What runs where (docs/deployments.md).
alter table deployments
  -- When it succeeded last, of a deployment of a code host as the host says. Null until then.
  add column if not exists live_at timestamptz(3),
  -- When its host said that it no longer runs, unless it has succeeded again since.
  add column if not exists inactive_at timestamptz(3),
  -- When somebody said that it no longer runs.
  add column if not exists live_ended_at timestamptz(3),
  -- The unit that it has succeeded in. Null also for deployments that were stored before.
  add column if not exists live_unit text collate "C",
  add column if not exists live_lane text collate "C";

create index concurrently if not exists deployments_by_unit
  on deployments (org_id, live_unit, live_lane, live_at, id) where live_unit is not null;
-- Those that were stored before, or by a program of the version before.
create index concurrently if not exists deployments_without_unit
  on deployments (created_at) where live_unit is null and (succeeded_at is not null or (status = 'success' and host_id is null));

-- The last success of each unit: a provider, a repository, an environment and what deploys there,
-- in each lane of those who say so.
create table if not exists live_deployments (
  org_id uuid not null,
  unit text collate "C" not null check (length(unit) between 1 and 2000),
  lane text collate "C" not null check (lane in ('verified', 'self_reported', 'untrusted')),
  -- Null until the transaction that makes the row has ended.
  deployment_id text collate "C",
  since timestamptz(3),
  ended_at timestamptz(3),
  ended_reason text check (ended_reason in ('inactive', 'stated')),
  primary key (org_id, unit, lane),
  check ((deployment_id is null) = (since is null)),
  check ((ended_at is null) = (ended_reason is null))
);
create index if not exists live_deployments_by_deployment on live_deployments (org_id, deployment_id);
