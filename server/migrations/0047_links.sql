-- One-use links, and the accounts of members at code hosts.

create table links (
  -- The organization that the account joins. Null for a link that resets an account.
  org_id uuid references organizations (id),
  id uuid primary key,
  kind text not null check (kind in ('setup', 'invitation', 'reset')),
  token_sha256 bytea not null unique check (length(token_sha256) = 32),
  -- The invited address. The person who uses a setup link chooses theirs.
  email text check (email = lower(email) and length(email) between 3 and 254),
  built_in_role text check (built_in_role in ('viewer', 'developer', 'release_manager', 'security', 'org_admin')),
  custom_role_id uuid,
  -- The account that is reset.
  user_id uuid references users (id),
  -- Who made the link. Null for the command line.
  created_by_user_id uuid references users (id),
  created_by_name text not null check (length(created_by_name) between 1 and 100),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  -- When the link was used, revoked or replaced.
  closed_at timestamptz(3),
  foreign key (org_id, custom_role_id) references custom_roles (org_id, id),
  check (num_nonnulls(built_in_role, custom_role_id) = (kind <> 'reset')::int),
  check ((org_id is null) = (kind = 'reset')),
  check ((user_id is not null) = (kind = 'reset')),
  check ((email is not null) = (kind = 'invitation'))
);

create unique index open_invitations on links (org_id, email) where kind = 'invitation' and closed_at is null;
create index links_by_role on links (org_id, custom_role_id) where custom_role_id is not null;

-- Members are listed by the time at which they joined.
create index members_by_age on members (org_id, created_at, user_id);
create index members_by_role on members (org_id, custom_role_id) where custom_role_id is not null;

-- Who a member is at a code host. The person who started a run there does not approve its
-- deployments here.
create table member_accounts (
  org_id uuid not null,
  user_id uuid not null,
  provider text not null check (length(provider) between 1 and 50),
  login text not null check (length(login) between 1 and 100),
  created_at timestamptz(3) not null,
  primary key (org_id, user_id, provider),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade
);

create unique index member_accounts_by_login on member_accounts (org_id, provider, lower(login));
