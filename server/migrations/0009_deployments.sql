-- A deployment of one commit to one environment, with every answer that let it out or held it back.
-- Times inside jsonb stand as they leave: RFC 3339 in UTC with milliseconds.
create table deployments (
  org_id uuid not null references organizations,
  id text collate "C" not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  provider text,
  repository text not null check (length(repository) between 1 and 300),
  repository_full_name text not null check (length(repository_full_name) between 3 and 300),
  environment text not null check (length(environment) between 1 and 100),
  status text not null check (
    status in (
      'pending_approval', 'approved', 'rejected', 'in_progress', 'success', 'failure', 'cancelled', 'expired',
      'rolled_back'
    )
  ),
  workflow_name text check (length(workflow_name) between 1 and 300),
  workflow_path text check (length(workflow_path) between 1 and 500),
  github_run_id bigint,
  pipeline_run_id text,
  job_id text,
  attempt integer not null check (attempt >= 1),
  previous_attempt_id text,
  superseded_by_id text,
  branch text,
  commit_sha text not null,
  commit_message text,
  release_name text,
  version text,
  author text,
  author_avatar_url text,
  html_url text,
  callback_url text,
  environment_url text,
  protection_rule_type text,
  protection_rule_types text[] not null default '{}',
  gated boolean not null,
  required_reviewers text[] not null default '{}',
  required_reviewer_teams text[] not null default '{}',
  reviewers_state text,
  custom_rule_state text,
  custom_rule_awaiting text,
  reviews jsonb not null default '[]' check (jsonb_typeof(reviews) = 'array'),
  approvals jsonb not null default '[]' check (jsonb_typeof(approvals) = 'array'),
  external_custom_rules jsonb not null default '[]' check (jsonb_typeof(external_custom_rules) = 'array'),
  bypass jsonb check (jsonb_typeof(bypass) = 'object'),
  override jsonb check (jsonb_typeof(override) = 'object'),
  policy_evaluation jsonb check (jsonb_typeof(policy_evaluation) = 'object'),
  -- The service's own rule is to be answered until then; null where nothing waits for an answer.
  answer_until timestamptz(3) check (answer_until is null or status = 'pending_approval'),
  deployed_at timestamptz(3),
  rollback_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create index deployments_by_creation on deployments (org_id, created_at, id);
create index deployments_by_environment on deployments (org_id, environment, created_at, id);
create index deployments_by_repository on deployments (org_id, repository_full_name, created_at, id);
create index deployments_by_workflow on deployments (org_id, workflow_name, created_at, id);
create index deployments_by_workflow_path on deployments (org_id, workflow_path, created_at, id);
create index deployments_by_status on deployments (org_id, status, created_at, id);
create index deployments_by_pipeline_run on deployments (org_id, pipeline_run_id, attempt);
-- The sweeper's question: which deployments waited too long for an answer?
create index deployments_to_answer on deployments (answer_until) where answer_until is not null;
