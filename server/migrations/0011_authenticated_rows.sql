-- What authenticates rows with a key derived from the secret key, so that somebody who can only write
-- to the database cannot forge them. Rows of earlier versions have none, until a job has verified them
-- by their signatures. When it has, it adds an entry to the log that says so, and a row without is
-- refused.
alter table signing_keys add column mac bytea;
alter table statements add column mac bytea;
alter table log_entries add column mac bytea;
alter table log_checkpoints add column mac bytea;

-- When an artifact was complete, or was last declared by another lane: a statement is about what was
-- complete when its deployment was decided. Rows of earlier versions have none, and count from
-- `created_at`.
alter table ci_artifacts add column completed_at timestamptz(3);
