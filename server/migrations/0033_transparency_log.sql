-- The entries of the server's transparency log. They get their positions in the log after they were stored.
create table log_entries (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('change', 'amendment', 'statement')),
  sha256 bytea not null check (length(sha256) = 32),
  -- Null until the entry is in the log.
  leaf_index bigint unique check (leaf_index >= 0),
  unique (kind, sha256)
);
