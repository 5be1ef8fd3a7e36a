-- What the promotion path of a deployment states (provenance.md §3).

-- The results of the rules of `policy_evaluation`: an array for each of its policies, in their order.
alter table deployments
  add column policy_rules jsonb,
  add constraint deployments_policy_rules_check check (jsonb_typeof(policy_rules) = 'array');

-- Whether passing policies or principals approved the gate. Null for gates that were approved before this was stored.
alter table required_gates
  add column approved_by text check (approved_by in ('policies', 'principals'));

create index deployments_by_commit on deployments (org_id, commit_sha, created_at, id);
create index ci_runs_by_commit on ci_runs (org_id, commit_sha, created_at, id);
