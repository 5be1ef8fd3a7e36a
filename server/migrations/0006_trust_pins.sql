-- The id that each name had when a trust first let it in. A name can later belong to somebody else.
create table trust_pins (
  org_id uuid not null,
  trust_id uuid not null,
  -- `host/owner/name` in lower case, or `host/owner/` of the owner.
  name text collate "C" not null check (length(name) between 1 and 600),
  id text not null check (length(id) between 1 and 20),
  pinned_at timestamptz(3) not null,
  -- The other id that the name had in the last token that was refused for it.
  refused_id text check (length(refused_id) between 1 and 20),
  refused_at timestamptz(3),
  primary key (org_id, trust_id, name),
  foreign key (org_id, trust_id) references oidc_trusts (org_id, id),
  check ((refused_id is null) = (refused_at is null))
);

-- Trusts are found by issuer and audience. An audience can be longer than a B-tree takes.
create index oidc_trusts_by_audience on oidc_trusts using hash (audience) where revoked_at is null;

-- The repositories that a key speaks about, as globs. Null, also for all stored keys: all.
alter table api_keys add column repositories text[] check (cardinality(repositories) between 1 and 50);
