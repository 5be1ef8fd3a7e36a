-- When runs of the last seven days were read again last, and whether the synchronization in progress does
-- so. It happens daily at hosts that cannot be asked for what has changed.
alter table codehost_syncs add column reread_at timestamptz;
alter table codehost_syncs add column rereads boolean not null default false;
