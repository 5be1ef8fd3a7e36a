-- Filters of the list of runs. A page reads only its own rows.

-- `owner/name` of `host/owner/name`, as runs show it.
create function run_full_name(repository text) returns text
  language sql immutable parallel safe
  return substr(repository, strpos(repository, '/') + 1);

create index ci_runs_by_full_name on ci_runs (org_id, run_full_name(repository), created_at, id);
-- New and successful runs are the most, so they have no entry.
create index ci_runs_ended_badly on ci_runs (org_id, status, created_at, id)
  where status not in ('queued', 'in_progress', 'success');

-- The reports and artifacts of a run are listed newest first.
create index ci_reports_of_run on ci_reports (org_id, run_id, created_at, id);
drop index ci_reports_by_run;
create index ci_artifacts_of_run on ci_artifacts (org_id, run_id, created_at, id);
drop index ci_artifacts_by_run;
