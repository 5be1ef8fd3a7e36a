-- earlier: 0034_provenance_chains.sql f8f2317cb1109c98e6a385113a33db5c28caea82f3a0d87d5add9501da86efe4
-- earlier: 0034_provenance_chains.sql 84ecd99577a341ab10e8c6a3c63d110b7890658887304c6905ee5a4786ae8f89
-- The first version had two tables of another form, which nothing wrote. The second differs in a comment.
do $$
begin
  if exists (select from pg_attribute where attrelid = 'chain_links'::regclass and attname = 'mac') then
    return;
  end if;
  if exists (select from chain_links) then
    raise exception 'The change records of this version cannot be authenticated, so that they cannot be upgraded.';
  end if;
  drop table provenance_chains, chain_links;
end $$;

create table if not exists provenance_chains (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  -- The number of links, and the hash of the last one.
  length integer not null check (length >= 0),
  head bytea check (length(head) = 32),
  -- The number of rows in chain_breaks.
  breaks integer not null check (breaks >= 0),
  -- How many links the last complete verification read, and when it ended.
  verified_length integer not null check (verified_length >= 0),
  verified_at timestamptz(3),
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id),
  check ((length = 0) = (head is null))
);

-- Records and amendments. Rows never change, except that retention replaces their bodies by tombstones.
create table if not exists chain_links (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  -- The position in the chain, from 0.
  index integer not null check (index >= 0),
  kind text not null check (kind in ('record', 'amendment')),
  change_id text collate "C" not null,
  at timestamptz(3) not null,
  -- The hash of the link before. Null for the first link.
  previous_hash bytea check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  -- Canonical JSON (RFC 8785), exactly the bytes that are hashed.
  body text,
  -- Canonical JSON with the SHA-256 of the removed body.
  tombstone text,
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id, index),
  check (num_nonnulls(body, tombstone) = 1)
);
create index if not exists chain_links_by_change on chain_links (org_id, change_id, index);
-- Finds entries of the log whose link is missing.
create index if not exists chain_links_by_hash on chain_links (hash);

-- Hashes of every 16th link. They bound how many links are read to verify one of them.
create table if not exists chain_anchors (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  index integer not null check (index >= 0),
  hash bytea not null check (length(hash) = 32),
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id, index)
);

-- Mismatches that a verification found. Rows are never deleted.
create table if not exists chain_breaks (
  org_id uuid not null,
  provider text not null,
  repository_id text collate "C" not null,
  sequence integer not null check (sequence >= 0),
  -- The link that the mismatch concerns.
  index integer not null,
  -- What did not match.
  part text not null check (part in ('link', 'previous', 'row', 'log', 'change', 'anchor', 'head', 'break')),
  expected bytea not null check (length(expected) = 32),
  -- Null if something is missing.
  found bytea check (length(found) = 32),
  found_at timestamptz(3) not null,
  -- What an administrator recorded about it. Until then, the chain is broken.
  note text,
  acknowledged_at timestamptz(3),
  mac bytea not null check (length(mac) = 32),
  primary key (org_id, provider, repository_id, sequence),
  unique nulls not distinct (org_id, provider, repository_id, index, part, expected, found),
  check ((note is null) = (acknowledged_at is null))
);
create index if not exists chain_breaks_open on chain_breaks (org_id, provider, repository_id) where acknowledged_at is null;
