-- The jobs of runs on code hosts, and the deployments of one run.

-- A job may arrive before its run.
create table provider_run_jobs (
  org_id uuid not null references organizations,
  run_id text collate "C" not null,
  attempt smallint not null check (attempt between 1 and 999),
  id text collate "C" not null,
  name text not null,
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  -- The place of the status in the order in which statuses follow each other. Events arrive in any order.
  state smallint not null,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  url text,
  primary key (org_id, run_id, attempt, id)
);

create index deployments_by_run on deployments (org_id, pipeline_run_id, created_at, id);
