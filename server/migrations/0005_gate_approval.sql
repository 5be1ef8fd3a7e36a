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
  primary key (org_id, run_id, credential_id)
);

-- The deletion of a gate is its last version.
alter table gate_versions add column deleted boolean not null default false;
-- Who removed a policy while this was its newest version; null if nobody did, or it was not a person.
alter table policy_versions
  add column removed_at timestamptz(3),
  add column removed_by_id text,
  add constraint policy_versions_removed_check check (num_nulls(removed_at, removed_by_id) in (0, 2)) not valid;
alter table policy_versions validate constraint policy_versions_removed_check;
-- Which of the permissions of an override the answer was given with. Null for answers from before.
alter table deployment_answers add column permissions text[];
