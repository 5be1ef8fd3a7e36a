-- Repositories of connected providers. `id` is the provider's own: a number, a project id, a UUID or a GUID.
create table repositories (
  org_id uuid not null references organizations,
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  id text not null check (length(id) between 1 and 100),
  host text not null check (host = lower(host)),
  full_name text not null check (length(full_name) between 3 and 300),
  tracked_branch text not null check (length(tracked_branch) between 1 and 255),
  created_at timestamptz(3) not null,
  primary key (org_id, provider, id)
);
-- Code hosts fold case in names, so do we when a name is looked up.
create unique index repositories_by_name on repositories (org_id, lower(full_name), provider, host);
