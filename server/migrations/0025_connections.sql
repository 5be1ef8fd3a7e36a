-- Apps at code hosts, their installations, and repositories that follow their code host.

-- Credentials that were made by the manifest flow. An App belongs to one address of an API.
create table codehost_apps (
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  api_url text not null check (length(api_url) between 1 and 500),
  app_id text collate "C" not null check (length(app_id) between 1 and 100),
  slug text not null check (length(slug) between 1 and 200),
  html_url text not null check (length(html_url) between 1 and 500),
  -- The private key and the webhook secret, encrypted.
  sealed text not null,
  created_at timestamptz(3) not null,
  primary key (provider, api_url)
);

-- Manifest flows. The state itself is known only to the browser and the code host.
create table codehost_app_setups (
  state_sha256 bytea primary key check (length(state_sha256) = 32),
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  options jsonb not null check (jsonb_typeof(options) = 'object'),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

-- Every installation that the code host has named, connected or not.
create table codehost_installations (
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  host text not null check (host = lower(host)),
  id text collate "C" not null check (length(id) between 1 and 100),
  -- Null until the host has described the installation.
  account_id text collate "C" check (length(account_id) between 1 and 100),
  account_login text check (length(account_login) between 1 and 200),
  account_type text check (length(account_type) between 1 and 50),
  repositories text check (repositories in ('all', 'selected')),
  suspended boolean not null default false,
  removed_at timestamptz(3),
  -- The host's time of the newest facts; older ones do not replace them.
  host_updated_at timestamptz(3),
  first_seen_at timestamptz(3) not null,
  last_event_at timestamptz(3) not null,
  primary key (provider, host, id)
);

create index codehost_installations_present on codehost_installations (first_seen_at) where removed_at is null;

-- Repositories that were added to or removed from an installation by name.
create table codehost_installation_repositories (
  provider text not null,
  host text not null,
  installation_id text collate "C" not null,
  repository_id text not null check (length(repository_id) between 1 and 100),
  selected boolean not null,
  -- The host's time of the change, if it says it, and when we were told.
  host_at timestamptz(3),
  told_at timestamptz(3) not null,
  primary key (provider, host, installation_id, repository_id)
);

-- For a moment, two repositories can have the same name: one was renamed, another took its name, and the first
-- event arrives last. Look-ups decide which of them has the name. Only names that people linked are unique.
drop index repositories_by_name;
create index repositories_by_name on repositories (org_id, lower(full_name), provider, host);
create unique index repositories_by_linked_name on repositories (org_id, lower(full_name), provider, host)
  where owner_id is null;
