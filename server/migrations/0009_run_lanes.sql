-- run: statement by statement
-- A report looks for those of the same job in all lanes.
create index concurrently if not exists ci_reports_by_identity
  on ci_reports (org_id, run_id, attempt, job_name, name);
