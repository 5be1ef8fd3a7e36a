-- The reports of CI jobs that the policies of a deployment were asked with, by the scope of the policies
-- (ci-evidence.md §3). Null in evaluations that were stored before.
alter table deployments add column if not exists asked_evidence jsonb;
