-- What an organization asks before it lets a deployment out. Every gate that covers a deployment must approve it.
create table configured_gates (
  org_id uuid not null references organizations,
  id uuid not null unique,
  name text not null check (length(name) between 1 and 100),
  -- Globs; null covers every repository, or every branch and a run without one.
  environment text not null check (length(environment) between 1 and 200),
  repository text check (length(repository) between 1 and 200),
  branch text check (length(branch) between 1 and 200),
  required_approvals smallint not null check (required_approvals between 1 and 20),
  allow_api_keys boolean not null,
  -- May the credential that reported the run answer, too?
  allow_run_creator boolean not null,
  policies text[] not null check (cardinality(policies) <= 20),
  created_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index configured_gates_by_name on configured_gates (org_id, name);

-- A deployment that one job of a run's attempt asked to be let out. The unique key makes simultaneous twins one.
create table opened_gates (
  org_id uuid not null,
  id uuid not null unique,
  deployment_id text collate "C" not null,
  run_id text collate "C" not null,
  attempt smallint not null check (attempt between 1 and 999),
  environment text not null check (length(environment) between 1 and 100),
  job text not null check (length(job) <= 100),
  status text not null check (status in ('waiting', 'decided', 'expired', 'cancelled')),
  decision text not null check (decision in ('pending', 'approved', 'rejected')),
  decided_by text,
  note text,
  -- Only the SHA-256 of the token is kept. It can be made again from the gate's id and this time, by whoever has the secret key.
  poll_token_sha256 bytea not null check (length(poll_token_sha256) = 32),
  poll_token_issued_at timestamptz(3) not null,
  -- When the policies had answered; null until then, which the sweeper makes up for.
  policies_asked_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, deployment_id),
  unique (org_id, run_id, environment, job, attempt),
  foreign key (org_id, deployment_id) references deployments (org_id, id),
  check ((status = 'waiting') = (decision = 'pending')),
  check ((decided_by is null) = (decision = 'pending')),
  check (status = 'decided' or decision <> 'approved')
);

create index opened_gates_waiting on opened_gates (org_id, created_at, id) where status = 'waiting';
create index opened_gates_to_evaluate on opened_gates (created_at) where policies_asked_at is null and status = 'waiting';

-- The gates that covered a deployment when it was opened, as they were then: what is configured later changes nothing.
create table required_gates (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  position smallint not null,
  id uuid not null,
  name text not null,
  required_approvals smallint not null,
  allow_api_keys boolean not null,
  allow_run_creator boolean not null,
  policies text[] not null,
  approved_at timestamptz(3),
  primary key (org_id, deployment_id, position),
  unique (org_id, deployment_id, id),
  foreign key (org_id, deployment_id) references deployments (org_id, id)
);

-- Who answered a deployment: each principal once.
create table deployment_answers (
  org_id uuid not null,
  id uuid not null,
  deployment_id text collate "C" not null,
  principal_type text not null check (principal_type in ('api_key', 'user')),
  principal_id text not null,
  principal_name text not null,
  decision text not null check (decision in ('approved', 'rejected')),
  reason text not null,
  comment text,
  answered_at timestamptz(3) not null,
  -- When the code host had taken the decision, and the comment.
  decision_posted_at timestamptz(3),
  comment_posted_at timestamptz(3),
  primary key (org_id, id),
  unique (org_id, deployment_id, principal_type, principal_id),
  foreign key (org_id, deployment_id) references deployments (org_id, id)
);

-- The last polls of each gate. After a crash the count starts anew, which is worth that no poll waits for the disk.
create unlogged table gate_polls (
  org_id uuid not null,
  gate_id uuid not null,
  polled_at timestamptz(3)[] not null check (cardinality(polled_at) <= 12),
  is_admitted boolean not null,
  last_polled_at timestamptz(3) not null,
  primary key (org_id, gate_id)
);
create index gate_polls_by_age on gate_polls (last_polled_at);
