create table oidc_trusts (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  issuer text not null check (length(issuer) between 1 and 500),
  audience text not null check (length(audience) between 1 and 500),
  provider text check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  -- A claim's name to a value or glob, or to a list of which one has to match.
  conditions jsonb not null check (jsonb_typeof(conditions) = 'object'),
  scopes text[] not null check (cardinality(scopes) > 0),
  created_by text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (org_id, id),
  unique (id)
);
create index oidc_trusts_by_issuer on oidc_trusts (issuer) where revoked_at is null;
create index oidc_trusts_by_organization on oidc_trusts (org_id, created_at, id);
