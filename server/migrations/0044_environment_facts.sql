-- What people state about environments (decisions.md §11): the first entry in order whose globs match
-- is the one that counts.
create table environment_facts (
  org_id uuid not null references organizations (id),
  id uuid not null,
  position smallint not null check (position between 1 and 100),
  environment text not null check (length(environment) between 1 and 200),
  repository text check (length(repository) between 1 and 200),
  exposure text check (exposure in ('internet', 'internal', 'none')),
  criticality smallint check (criticality between 1 and 5),
  production boolean,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id),
  unique (org_id, position),
  constraint environment_facts_stated check (num_nonnulls(exposure, criticality, production) > 0)
);
create unique index environment_facts_by_globs on environment_facts (org_id, environment, coalesce(repository, ''));
