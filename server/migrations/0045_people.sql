-- People, the organizations that they belong to, and their sessions. A user can belong to several
-- organizations, so that users and sessions have no org_id.

create table users (
  id uuid primary key,
  email text not null unique check (email = lower(email) and length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 100),
  created_at timestamptz(3) not null,
  -- A disabled user cannot sign in to any organization.
  disabled_at timestamptz(3)
);

create table custom_roles (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 100),
  permissions text[] not null check (cardinality(permissions) > 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);

create unique index custom_roles_by_name on custom_roles (org_id, lower(name));

create table members (
  org_id uuid not null references organizations (id),
  user_id uuid not null references users (id),
  built_in_role text check (built_in_role in ('viewer', 'developer', 'release_manager', 'security', 'org_admin')),
  custom_role_id uuid,
  created_at timestamptz(3) not null,
  -- A disabled member has no access to this organization.
  disabled_at timestamptz(3),
  primary key (org_id, user_id),
  foreign key (org_id, custom_role_id) references custom_roles (org_id, id),
  check (num_nonnulls(built_in_role, custom_role_id) = 1)
);

create index members_by_user on members (user_id);

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users (id),
  token_sha256 bytea not null unique check (length(token_sha256) = 32),
  method text not null check (method in ('password', 'passkey', 'sso', 'link')),
  created_at timestamptz(3) not null,
  -- When the user last proved who they are. Dangerous actions require that this is recent.
  signed_in_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  ended_at timestamptz(3),
  address text check (length(address) <= 100),
  user_agent text check (length(user_agent) <= 300)
);

create index user_sessions_by_user on user_sessions (user_id, created_at) where ended_at is null;
