-- A regroup works in several repositories at the same time. `repository_no` is the last one that it
-- has begun, and `in_progress` has those that it has not finished: by number, the last bucket that
-- is regrouped, in hex, and the number of the next batch. Earlier versions keep the place in the
-- last repository in `bucket`. A regroup of theirs continues, but they cannot end one that has
-- repositories in progress.
alter table issue_regroups
  add column in_progress jsonb not null default '{}',
  add column last_batch integer not null default 0,
  add constraint issue_regroups_finished check (status <> 'finished' or in_progress = '{}') not valid;
alter table issue_regroups validate constraint issue_regroups_finished;

-- A batch that changes only the reasons of findings writes no issues. Null in earlier rows, whose
-- batches have issues.
alter table issue_regroup_findings add column repository_no bigint;
