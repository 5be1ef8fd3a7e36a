-- A run of a pipeline, and in the same row its newest attempt (status to deadline_at): the one that nearly every call
-- is about. No foreign key here: its check would lock the organization's one row for every new run.
create table ci_runs (
  org_id uuid not null,
  id text collate "C" not null,
  provider text not null,
  ci_system text not null,
  ci_system_name text,
  external_run_id text not null,
  repository text not null,
  commit_sha text not null,
  ref text,
  pipeline_name text not null,
  event text not null,
  trust text not null,
  credential_type text not null,
  credential_id uuid not null,
  credential_name text not null,
  -- A credential's new runs of one UTC day are numbered 1 to 2,000; the unique index makes that limit exact
  -- across processes without a counter row that every insert would queue for.
  day date not null,
  day_number smallint not null check (day_number between 1 and 2000),
  newest_attempt smallint not null check (newest_attempt between 1 and 999),
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  actor text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3) check (completed_at >= started_at),
  deadline_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id),
  check ((completed_at is null) = (status in ('queued', 'in_progress')))
);
create unique index ci_runs_by_external_id on ci_runs (org_id, ci_system, external_run_id);
create unique index ci_runs_by_day_number on ci_runs (org_id, credential_id, day, day_number);
create index ci_runs_by_creation on ci_runs (org_id, created_at, id);
-- Of runs that have ended: a new one is not written into it.
create index ci_runs_by_repository on ci_runs (org_id, repository, created_at, id) where completed_at is not null;
-- The sweeper's question: which open attempts are past their deadline?
create index ci_runs_open on ci_runs (deadline_at) where completed_at is null;

-- The attempts of a run before its newest. Numbers may have gaps: an attempt exists that is here or the newest.
create table ci_run_attempts (
  org_id uuid not null,
  run_id text collate "C" not null,
  number smallint not null check (number between 1 and 999),
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  actor text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3) check (completed_at >= started_at),
  deadline_at timestamptz(3) not null,
  primary key (org_id, run_id, number),
  foreign key (org_id, run_id) references ci_runs (org_id, id),
  check ((completed_at is null) = (status in ('queued', 'in_progress')))
);
create index ci_run_attempts_open on ci_run_attempts (deadline_at) where completed_at is null;
