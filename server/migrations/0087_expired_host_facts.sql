-- run: statement by statement
-- Retention finds old facts of code hosts, and branches that no report has been about since, by these.
create index concurrently if not exists pull_requests_by_update on pull_requests (org_id, updated_at);
create index concurrently if not exists pull_request_reviews_by_time on pull_request_reviews (org_id, submitted_at);
create index concurrently if not exists pushes_by_time on pushes (org_id, pushed_at);
create index concurrently if not exists commit_checks_ended on commit_checks (org_id, completed_at)
  where completed_at is not null;
create index concurrently if not exists commit_checks_unended on commit_checks (org_id, started_at)
  where completed_at is null;
create index concurrently if not exists deployment_reviews_by_time on deployment_reviews (org_id, at);
create index concurrently if not exists finding_streams_unseen on finding_streams (org_id, seen_at)
  where not tracked;
create index concurrently if not exists vex_documents_by_report on vex_documents (org_id, reported_at)
  where not tracked;
