-- earlier: 0028_provider_runs.sql 5c01f1fa5eeb47c97fbde55a51383cb42c434e8973dd4296e93865797c74c8b0
-- earlier: 0028_provider_runs.sql 6d73baec13b685f183b9160b8f41ca27752bda8d0ea481c137cb904c6a480136
-- The repository of the branch was added. It was not stored before, so that the runs of forks count as
-- runs of the repository itself.
alter table provider_runs add column head_repository_id text collate "C";
update provider_runs
set head_repository_id = repository_id;
alter table provider_runs alter column head_repository_id set not null;
drop index provider_runs_by_branch;
create index provider_runs_by_branch on provider_runs
  (org_id, provider, repository_id, workflow_id, branch, head_repository_id, run_number, run_id)
  where branch is not null and run_number is not null;
