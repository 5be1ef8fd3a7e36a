-- Who registered an upload. Null for the reports of CI jobs, and for uploads before this migration.
alter table security_uploads
  add column created_by_type text check (created_by_type in ('api_key', 'user')),
  add column created_by_id text,
  add column created_by_name text,
  add check (num_nulls(created_by_type, created_by_id, created_by_name) in (0, 3));

-- The audit log knows the people.
update security_uploads upload
set created_by_type = entry.principal_type, created_by_id = entry.principal_id, created_by_name = entry.principal_name
from audit_entries entry
where upload.origin = 'ui'
  and entry.org_id = upload.org_id
  and entry.action = 'security_upload.create'
  and entry.object_type = 'security_upload'
  and entry.object_id = upload.id
  and entry.principal_type = 'user';
