-- earlier: 0029_host_deployments.sql 91494e230a8c8eead356e2477d310ef530fed4c75f10860e7f4942fe5b62fa69
-- earlier: 0029_host_deployments.sql f56857edf1625152952f531633db1804e93255f4b73f1e66ec53af2eff3b9d29
-- A column and an index were added. A stored review was in its list once.
alter table deployment_reviews add column if not exists times integer not null default 1 check (times >= 1);
alter table deployment_reviews alter column times drop default;
create index if not exists deployments_by_success
  on deployments (org_id, provider, repository_id, environment, created_at, id) where succeeded_at is not null;
