-- Deployments of connected code hosts. What the host says is kept as facts, one row for each thing
-- that it said. The shown columns of a deployment are derived from all of them, so the order in
-- which they arrive has no effect.

alter table deployments
  -- GitHub allows names of environments of up to 255 characters.
  drop constraint deployments_environment_check,
  add constraint deployments_environment_check check (length(environment) between 1 and 255),
  -- The host, the host's ids, and what it says about the deployment. Null for deployments of opened gates.
  add column host text check (host = lower(host)),
  add column host_id text collate "C",
  add column repository_id text collate "C",
  add column host_run_id text collate "C",
  add column host_attempt integer check (host_attempt >= 1),
  add column host_ref text,
  add column host_creator text,
  add column host_creator_avatar_url text,
  add column host_updated_at timestamptz(3),
  -- The protection rules of the environment when the deployment waited; null until they were read.
  add column environment_rules jsonb check (jsonb_typeof(environment_rules) = 'object'),
  -- Whether the reviews were read from the host after the deployment had gone on.
  add column reviews_read text check (reviews_read in ('done', 'failed')),
  -- The decision of the service's own rule, and until when it is to be made.
  add column rule_decision text check (rule_decision in ('approved', 'rejected', 'expired')),
  add column rule_answer_until timestamptz(3),
  add column decision_undelivered boolean not null default false,
  -- Derived: the first success, and the creation of the run.
  add column succeeded_at timestamptz(3),
  add column run_created_at timestamptz(3),
  -- When the policies were evaluated for the first time; null until then.
  add column policies_asked_at timestamptz(3),
  add constraint deployments_of_hosts check (
    (host_id is null) = (host is null) and (host_id is null) = (repository_id is null)
    and (host_id is null) = (host_updated_at is null)
  );

update deployments deployment
set policies_asked_at = gate.policies_asked_at
from opened_gates gate
where gate.org_id = deployment.org_id
  and gate.deployment_id = deployment.id;

drop index opened_gates_waiting;
drop index opened_gates_to_evaluate;
alter table opened_gates drop column policies_asked_at;

create index deployments_waiting on deployments (org_id, created_at, id)
  where status = 'pending_approval' and custom_rule_state = 'pending';
create index deployments_to_evaluate on deployments (created_at)
  where policies_asked_at is null and custom_rule_state = 'pending';
create index deployments_by_host_environment on deployments (
  org_id, provider, repository_id, environment, created_at, id
) where host_id is not null;
create index deployments_by_success on deployments (org_id, provider, repository_id, environment, created_at, id)
  where succeeded_at is not null;
create index deployments_by_deployed_commit on deployments (
  org_id, provider, repository_id, environment, commit_sha, created_at, id
) where succeeded_at is not null;

-- The protection rules of environments as they were last read. A lock on a row also makes changes
-- to the deployments of one environment wait for each other.
create table deployment_environments (
  org_id uuid not null references organizations (id),
  provider text not null,
  repository_id text collate "C" not null,
  name text not null,
  rules jsonb check (jsonb_typeof(rules) = 'object'),
  read_at timestamptz(3),
  primary key (org_id, provider, repository_id, name)
);

create table deployment_statuses (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  -- The host's id, else the state and its time.
  id text collate "C" not null,
  state text not null check (state in ('waiting', 'in_progress', 'success', 'failure', 'cancelled', 'inactive')),
  environment_url text,
  log_url text,
  job_id text,
  creator text,
  created_at timestamptz(3) not null,
  primary key (org_id, deployment_id, id),
  foreign key (org_id, deployment_id) references deployments (org_id, id)
);

-- Requests of hosts to decide our protection rule. An empty deployment_id or run_id and the attempt
-- 0 mean that the host did not say.
create table deployment_gate_requests (
  org_id uuid not null references organizations (id),
  provider text not null,
  repository_id text collate "C" not null,
  environment text not null,
  run_id text collate "C" not null,
  attempt integer not null check (attempt >= 0),
  deployment_id text collate "C" not null,
  callback_url text not null,
  requested_at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, environment, run_id, attempt, deployment_id)
);

-- Reviewers of hosts, who were asked or who answered. The attempt 0 means that the host did not say.
create table deployment_reviews (
  org_id uuid not null references organizations (id),
  provider text not null,
  repository_id text collate "C" not null,
  run_id text collate "C" not null,
  attempt integer not null check (attempt >= 0),
  environment text not null,
  state text not null check (state in ('requested', 'approved', 'rejected')),
  reviewer text not null,
  avatar_url text,
  comment text,
  at timestamptz(3) not null,
  -- Lists of hosts do not contain the time of a review. An event replaces a listed review.
  is_listed boolean not null,
  -- How often a list contains the review, because it does not name the attempts.
  times integer not null check (times >= 1),
  primary key (org_id, provider, repository_id, run_id, environment, attempt, state, reviewer)
);

-- What deployments show of their runs, by attempt. A run can arrive before its deployments.
create table deployment_runs (
  org_id uuid not null references organizations (id),
  run_id text collate "C" not null,
  attempt integer not null check (attempt >= 1),
  status text not null,
  workflow_name text,
  workflow_path text,
  ref text,
  commit_message text,
  release_name text,
  author text,
  author_avatar_url text,
  html_url text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, run_id, attempt)
);
