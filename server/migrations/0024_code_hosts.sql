-- Connections of organizations to accounts of code hosts, and the calls that are sent to them.

create table codehost_connections (
  org_id uuid not null references organizations (id),
  id uuid not null,
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  host text not null check (host = lower(host)),
  -- The host's id of what authorizes us: for GitHub, the installation of the App.
  installation_id text collate "C" not null check (length(installation_id) between 1 and 100),
  account_id text collate "C" not null check (length(account_id) between 1 and 100),
  account_login text not null check (length(account_login) between 1 and 200),
  account_type text not null check (length(account_type) between 1 and 50),
  status text not null check (status in ('active', 'suspended', 'removed')),
  repositories text not null check (repositories in ('all', 'selected')),
  connected_at timestamptz(3) not null,
  last_event_at timestamptz(3),
  last_synced_at timestamptz(3),
  sync_state text not null default 'idle' check (sync_state in ('idle', 'running', 'failed')),
  sync_phase text,
  sync_done integer check (sync_done >= 0),
  sync_total integer check (sync_total >= 0),
  sync_error text,
  primary key (org_id, id),
  unique (id)
);

-- One account belongs to one organization at a time.
create unique index codehost_connections_by_account on codehost_connections (provider, host, account_id)
  where status <> 'removed';
create unique index codehost_connections_by_installation on codehost_connections (provider, host, installation_id)
  where status <> 'removed';

-- What connected code hosts say about their repositories. Null for linked repositories.
alter table repositories
  add column connection_id uuid,
  add column owner_id text collate "C",
  add column html_url text,
  add column private boolean,
  add column archived boolean,
  add column deleted_at timestamptz(3),
  -- The host's time of the newest facts; older ones do not replace them.
  add column host_updated_at timestamptz(3),
  add foreign key (org_id, connection_id) references codehost_connections (org_id, id);

create index repositories_by_connection on repositories (org_id, connection_id, id) where connection_id is not null;

-- Calls to code hosts that must take effect once: decisions, comments, dismissals, commit statuses.
create table codehost_calls (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  -- The same key again is the same call.
  idempotency_key text collate "C" not null check (length(idempotency_key) between 1 and 200),
  subject_type text not null check (subject_type in ('deployment', 'alert', 'commit')),
  subject_id text collate "C" not null,
  action jsonb not null check (jsonb_typeof(action) = 'object'),
  status text not null check (status in ('pending', 'done', 'failed', 'refused')),
  attempts integer not null default 0 check (attempts >= 0),
  error text,
  next_try_at timestamptz(3),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id),
  check ((status = 'pending') = (next_try_at is not null)),
  check ((status = 'pending') = (ended_at is null))
);

create unique index codehost_calls_by_key on codehost_calls (org_id, idempotency_key);
create index codehost_calls_due on codehost_calls (next_try_at) where status = 'pending';
create index codehost_calls_by_subject on codehost_calls (org_id, subject_type, subject_id, created_at);
