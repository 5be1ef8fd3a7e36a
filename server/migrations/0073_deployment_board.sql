-- What runs where: the latest and the last successful deployment of each repository and environment.
create index deployments_by_place on deployments (org_id, repository_full_name, environment, created_at, id);
create index deployments_succeeded_by_place
on deployments (org_id, repository_full_name, environment, created_at, id)
where status = 'success' or succeeded_at is not null;

-- What each rule of the latest evaluation was based on: an array for each policy, in the order of
-- policy_rules. It is shown to people, and is no part of a statement.
alter table deployments add column policy_evidence jsonb check (jsonb_typeof(policy_evidence) = 'array');
