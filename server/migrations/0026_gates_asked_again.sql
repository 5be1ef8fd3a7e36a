-- run: statement by statement
-- A gate that is opened again after its approval was used, or after it ended without one, is followed
-- by another one of the same run, attempt, environment and job.

-- Each names the other. Both null where a gate was opened once.
alter table opened_gates
  add column if not exists supersedes uuid,
  add column if not exists superseded_by uuid;
-- Whether a gate was opened again after a rejection: policies alone do not approve it.
alter table required_gates add column if not exists after_rejection boolean not null default false;

create unique index concurrently if not exists opened_gates_current
  on opened_gates (org_id, run_id, environment, job, attempt, lane) nulls not distinct where superseded_by is null;
-- Approvals that nobody has used are asked again with those that wait.
create index concurrently if not exists opened_gates_unread on opened_gates (org_id, created_at) where unread;
drop index concurrently if exists opened_gates_by_key;
