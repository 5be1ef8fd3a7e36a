-- What an organization wants to be true before something is let out. `version` is the one in force; 0 only while the first
-- one is being written.
create table policies (
  org_id uuid not null references organizations,
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  version integer not null check (version >= 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index policies_by_name on policies (org_id, name);

-- Every version that ever was in force. Never changed.
create table policy_versions (
  org_id uuid not null,
  policy_id uuid not null,
  version integer not null check (version >= 1),
  mode text not null check (mode in ('monitor', 'enforce')),
  definition jsonb not null,
  -- Over the definition: equal hashes are the same policy.
  content_hash bytea not null check (length(content_hash) = 32),
  created_at timestamptz(3) not null,
  primary key (org_id, policy_id, version),
  foreign key (org_id, policy_id) references policies (org_id, id)
);

-- Policies compiled to WebAssembly, with their data. By the hash over both, so that equal ones are kept once.
create table policy_bundles (
  org_id uuid not null references organizations,
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  wasm bytea not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  primary key (org_id, sha256)
);
