-- Finds the uploads that wait for their job, to settle those whose job is gone.
create index security_uploads_unread on security_uploads (created_at) where status in ('queued', 'parsing');
