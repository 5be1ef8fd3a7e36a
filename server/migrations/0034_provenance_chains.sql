-- The hash chains of change records, one for each repository.
create table provenance_chains (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  -- The number of links, and the hash of the last one.
  length bigint not null check (length >= 1),
  head bytea not null check (length(head) = 32),
  primary key (org_id, provider, repository_id)
);

-- Records and amendments. Rows never change, except that retention removes their bodies.
create table chain_links (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  -- The position in the chain, from 0.
  index bigint not null check (index >= 0),
  kind text not null check (kind in ('record', 'amendment')),
  change_id text collate "C" not null,
  -- Canonical JSON (RFC 8785), exactly the bytes that are hashed.
  body text,
  hash bytea not null check (length(hash) = 32),
  at timestamptz(3) not null,
  primary key (org_id, provider, repository_id, index)
);
create index chain_links_by_change on chain_links (org_id, change_id, index);
