alter table security_uploads
  -- The commit that the newest request for this file named, if it is not commit_sha. The findings are attributed to it.
  add column reported_commit_sha text;
alter table finding_streams
  -- The upload of the newest report. Null for a report that was applied before this column existed.
  add column upload_id text collate "C";
