-- run: statement by statement
-- A run belongs to the CI server that it ran on, and each attempt is about a repository and a commit
-- of its own.

-- The CI server or organization, as host and path. Null if the sender named none.
alter table ci_runs
  add column if not exists ci_instance text,
  -- The first run of its number and lane. A run without `ci_instance` is always the first, so that
  -- senders that name their server and those that do not can never store one run twice.
  add column if not exists is_first boolean not null default true,
  -- What the newest attempt is about, where it differs from the run.
  add column if not exists attempt_repository text,
  add column if not exists attempt_commit_sha text;
alter table ci_run_attempts
  add column if not exists repository text,
  add column if not exists commit_sha text;

alter table ci_runs
  drop constraint if exists ci_runs_instance_check,
  add constraint ci_runs_instance_check
    check (case when ci_instance is null then is_first else provider = 'other' end) not valid;
alter table ci_runs validate constraint ci_runs_instance_check;

create unique index concurrently if not exists ci_runs_first
  on ci_runs (org_id, ci_system, external_run_id, trust) where is_first;
create unique index concurrently if not exists ci_runs_by_instance
  on ci_runs (org_id, ci_system, external_run_id, trust, ci_instance) where ci_instance is not null;
drop index concurrently if exists ci_runs_by_lane;

-- What tells jobs with one name apart, as part of the identity of a report, and what the CI system
-- said of the job. Null where it said nothing, and for reports that were stored before.
alter table ci_reports
  add column if not exists job_identity text,
  add column if not exists job_key text,
  add column if not exists job_instance text,
  add column if not exists job_retries smallint;

-- A stored file stays until its replacement has been completed: both have one path for a while.
create unique index concurrently if not exists ci_artifacts_by_state
  on ci_artifacts (org_id, report_id, path, (status = 'uploaded'));
drop index concurrently if exists ci_artifacts_by_path;
