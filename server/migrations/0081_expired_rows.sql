-- run: statement by statement
-- Retention finds the rows that have expired by these indexes. Other tables had one already.
create index concurrently if not exists finding_streams_by_upload on finding_streams (org_id, upload_id)
  where upload_id is not null;
create index concurrently if not exists vex_documents_by_upload on vex_documents (org_id, upload_id);
-- Reports look for fixed findings by fingerprint. They must not choose this index, which knows nothing
-- of fingerprints, when tables were not analysed: nothing in their conditions proves the second one.
create index concurrently if not exists findings_gone on findings (org_id, last_seen_at)
  where reported_state <> 'open' and last_seen_at is not null;
create index concurrently if not exists codehost_calls_ended on codehost_calls (org_id, created_at)
  where status <> 'pending';
create index concurrently if not exists deployment_runs_by_creation on deployment_runs (org_id, created_at);
create index concurrently if not exists statements_by_issue on statements (org_id, issued_at);
