-- Runs of connected code hosts, and what the hosts say about changes.

-- A verified run comes from a code host. It has no CI system, credential or deadline.
alter table ci_runs
  alter column ci_system drop not null,
  alter column credential_type drop not null,
  alter column credential_id drop not null,
  alter column credential_name drop not null,
  alter column day drop not null,
  alter column day_number drop not null,
  alter column deadline_at drop not null,
  add check (
    num_nonnulls(ci_system, credential_type, credential_id, credential_name, day, day_number, deadline_at)
      = case trust when 'verified' then 0 else 7 end
  );
alter table ci_run_attempts alter column deadline_at drop not null;

-- Few verified runs are open at a time. The synchronization reads them again.
create index ci_runs_open_verified on ci_runs (org_id, created_at) where completed_at is null and trust = 'verified';

-- The attempts of a verified run, as its host describes them. Attempts of ci_runs and ci_run_attempts are derived from
-- them. A job may arrive before its run: then only job_started is known.
create table provider_run_attempts (
  org_id uuid not null,
  run_id text collate "C" not null,
  number smallint not null check (number between 1 and 999),
  job_started boolean not null default false,
  host_version text collate "C",
  status text
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  actor text,
  started_at timestamptz(3),
  -- The earliest completion time of all versions.
  completed_at timestamptz(3),
  host_updated_at timestamptz(3),
  primary key (org_id, run_id, number),
  check (num_nulls(host_version, status, started_at, host_updated_at) in (0, 4))
);

-- What a verified run has beside the columns of ci_runs.
create table provider_runs (
  org_id uuid not null,
  run_id text collate "C" not null,
  provider text not null,
  repository_id text collate "C" not null,
  repository_owner_id text collate "C" not null,
  workflow_id text collate "C" not null,
  workflow_path text,
  run_number integer,
  -- Null for a tag.
  branch text,
  -- The repository of the branch, which can be a fork.
  head_repository_id text collate "C" not null,
  trigger_kind text not null
    check (trigger_kind in ('push', 'pull_request', 'schedule', 'manual', 'release', 'workflow', 'other')),
  commit_sha text not null,
  release_name text,
  actor_id text collate "C",
  actor_login text,
  actor_avatar_url text,
  actor_url text,
  pull_request_number integer,
  pull_request_url text,
  created_at timestamptz(3) not null,
  -- The version of the host's object that these columns are from.
  host_version text collate "C" not null,

  -- Details: the job ci.read-run-details reads them from the host.
  commit_message text,
  author_id text collate "C",
  author_login text,
  author_avatar_url text,
  merged_pull_request_number integer,
  merged_pull_request_url text,
  workflow_blob text collate "C",
  details_due boolean not null default true,
  details_tried_at timestamptz(3),

  -- The failure of one attempt: the job ci.read-run-failures reads it from the host.
  failure_attempt smallint,
  failure_category text check (
    failure_category in
      ('test', 'build', 'lint', 'dependency', 'timeout', 'infrastructure', 'cancelled', 'unknown')
  ),
  failure_excerpt text check (length(failure_excerpt) <= 2000),
  failure_due boolean not null default false,
  failure_tried_at timestamptz(3),

  primary key (org_id, run_id),
  foreign key (org_id, run_id) references ci_runs (org_id, id)
);
-- The history of a workflow on a branch.
create index provider_runs_by_branch on provider_runs
  (org_id, provider, repository_id, workflow_id, branch, head_repository_id, run_number, run_id)
  where branch is not null and run_number is not null;
create index provider_runs_by_commit on provider_runs (org_id, provider, repository_id, commit_sha);
create index provider_runs_without_details on provider_runs (org_id, provider, repository_id, created_at)
  where details_due;
create index provider_runs_with_unread_failure on provider_runs (org_id, provider, repository_id, created_at)
  where failure_due;

-- What follows from the history of a completed run.
create table provider_run_scores (
  org_id uuid not null,
  run_id text collate "C" not null,
  failure_recurrence integer check (failure_recurrence >= 1),
  anomaly_reasons text[] not null,
  importance_score real not null check (importance_score between 0 and 1),
  primary key (org_id, run_id),
  foreign key (org_id, run_id) references ci_runs (org_id, id)
);

-- Runs whose scores, and those of later runs, must be computed again.
create table unscored_provider_runs (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  run_id text collate "C" not null,
  primary key (org_id, provider, repository_id, run_id)
);

-- Versions (blobs) of workflow files. Null job_dependencies: the file is missing or is no workflow.
create table workflow_files (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  blob text collate "C" not null,
  job_dependencies jsonb check (jsonb_typeof(job_dependencies) = 'object'),
  deploys boolean not null,
  primary key (org_id, provider, repository_id, blob)
);

-- Display names of accounts. Null: the host does not give one.
create table provider_accounts (
  org_id uuid not null,
  provider text not null,
  id text collate "C" not null,
  name text,
  read_at timestamptz(3) not null,
  primary key (org_id, provider, id)
);

-- Pull requests, reviews, checks and pushes, as policies and change records need them. host_version decides which
-- version of an object stays.
create table pull_requests (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  number integer not null check (number > 0),
  host_version text collate "C" not null,
  title text not null,
  url text,
  author jsonb,
  state text not null check (state in ('open', 'closed', 'merged')),
  draft boolean not null,
  head_ref text not null,
  head_sha text not null,
  -- Null if the repository of the head was deleted.
  head_repository_id text collate "C",
  base_ref text not null,
  base_sha text not null,
  merge_commit_sha text,
  merged_by jsonb,
  created_at timestamptz(3) not null,
  merged_at timestamptz(3),
  closed_at timestamptz(3),
  updated_at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, number)
);
create index pull_requests_by_merge_commit on pull_requests (org_id, provider, repository_id, merge_commit_sha)
  where state = 'merged';

-- Every commit that was the newest of a pull request.
create table pull_request_heads (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  pull_request integer not null,
  primary key (org_id, provider, repository_id, commit_sha, pull_request)
);

create table pull_request_reviews (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  id text collate "C" not null,
  pull_request integer not null check (pull_request > 0),
  host_version text collate "C" not null,
  reviewer jsonb,
  state text not null check (state in ('approved', 'changes_requested', 'commented', 'dismissed')),
  -- The commit that was reviewed.
  commit_sha text,
  submitted_at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, id)
);
create index pull_request_reviews_by_pull_request on pull_request_reviews
  (org_id, provider, repository_id, pull_request, submitted_at);

create table commit_checks (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  commit_sha text not null,
  id text collate "C" not null,
  host_version text collate "C" not null,
  name text not null,
  source text not null,
  status text not null
    check (status in ('queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped')),
  url text,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  primary key (org_id, provider, repository_id, commit_sha, id)
);

-- Pushes to the tracked branch.
create table pushes (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  id text collate "C" not null,
  branch text not null,
  -- Null if the push created the branch.
  before_sha text,
  after_sha text not null,
  forced boolean not null,
  pusher jsonb,
  pushed_at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, id)
);
create index pushes_by_head on pushes (org_id, provider, repository_id, after_sha);

-- At most the last 1,000 commits of a push. Times are those of the commits.
create table pushed_commits (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  push_id text collate "C" not null,
  position smallint not null,
  sha text not null,
  message text not null,
  author jsonb not null,
  committer jsonb not null,
  at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, push_id, position),
  foreign key (org_id, provider, repository_id, push_id) references pushes (org_id, provider, repository_id, id)
);
create index pushed_commits_by_sha on pushed_commits (org_id, provider, repository_id, sha);
