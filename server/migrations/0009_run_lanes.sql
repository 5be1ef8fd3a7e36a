-- run: statement by statement
-- Runs, reports and opened gates of different lanes stand beside each other.

-- A report looks for those of the same job in all lanes.
create index concurrently if not exists ci_reports_by_identity
  on ci_reports (org_id, run_id, attempt, job_name, name);

-- One run of a CI system for each lane, which is its trust.
create unique index concurrently if not exists ci_runs_by_lane
  on ci_runs (org_id, ci_system, external_run_id, trust);
drop index concurrently if exists ci_runs_by_external_id;

-- The newest runs of a repository in each lane.
create index concurrently if not exists ci_runs_newest
  on ci_runs (org_id, repository, trust, created_at, id) where completed_at is not null;
drop index concurrently if exists ci_runs_by_repository;

-- The lane of the run when the gate was opened: a token that takes over a run does not get its gates.
-- Null for gates that were opened before this was stored: they belong to every lane of their run.
alter table opened_gates add column if not exists lane text;
alter table opened_gates drop constraint if exists opened_gates_lane_check;
alter table opened_gates add constraint opened_gates_lane_check
  check (lane in ('verified', 'self_reported', 'untrusted')) not valid;
alter table opened_gates validate constraint opened_gates_lane_check;
create unique index concurrently if not exists opened_gates_by_key
  on opened_gates (org_id, run_id, environment, job, attempt, lane) nulls not distinct;
alter table opened_gates drop constraint if exists opened_gates_org_id_run_id_environment_job_attempt_key;
