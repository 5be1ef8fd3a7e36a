-- Only the SHA-256 of a key is kept; the key itself is shown once, when it is made.
create table api_keys (
  org_id uuid not null references organizations,
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  key_sha256 bytea not null unique check (length(key_sha256) = 32),
  environment text not null check (environment in ('production', 'development')),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_by text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
create index api_keys_by_organization on api_keys (org_id, created_at, id);
