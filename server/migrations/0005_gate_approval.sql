-- Whether policies approve a gate: true (those that it names), false, or "covering" (all that cover
-- the deployment; only gates from before have it). Null in rows that were stored before.
alter table configured_gates
  add column approve_by_policies jsonb check (approve_by_policies in ('true', 'false', '"covering"'));
alter table gate_versions
  add column approve_by_policies jsonb check (approve_by_policies in ('true', 'false', '"covering"'));
alter table required_gates
  add column approve_by_policies jsonb check (approve_by_policies in ('true', 'false', '"covering"'));

-- Whether people whose account at the code host is not linked are refused where somebody started the
-- run there.
alter table configured_gates add column require_linked_accounts boolean not null default false;
alter table gate_versions add column require_linked_accounts boolean not null default false;
alter table required_gates add column require_linked_accounts boolean not null default false;

-- Somebody who opened the deployment is among those whose approval counted.
alter table deployments add column self_approved boolean not null default false;

-- The API keys and trusts that stated something about a run. A run of a code host has no row in
-- ci_runs before the host reports it, so there is no foreign key.
create table ci_run_writers (
  org_id uuid not null references organizations,
  run_id text collate "C" not null,
  credential_id uuid not null,
  first_at timestamptz(3) not null,
  primary key (org_id, run_id, credential_id)
);
