-- Uploads are listed newest first, all of an organization or those of some repositories. Each status is read by itself, so
-- that a rare status costs no more than a frequent one.
create index security_uploads_by_status on security_uploads (org_id, status, created_at, id);
create index security_uploads_by_repository on security_uploads (org_id, repository_no, status, created_at, id);
