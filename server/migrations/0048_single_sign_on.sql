-- Single sign-on with OpenID Connect.

-- The identity provider of an organization. That of the whole server is in the environment.
create table single_sign_on (
  org_id uuid primary key references organizations (id),
  issuer text not null check (length(issuer) between 1 and 500),
  client_id text not null check (length(client_id) between 1 and 500),
  -- Encrypted; never shown.
  sealed_client_secret text not null,
  -- Empty: every verified address.
  email_domains text[] not null,
  creates_accounts boolean not null,
  -- Roles are ids of built-in or custom roles. A deleted custom role gives nothing.
  default_role text,
  role_claim text,
  -- [{ "value", "role" }]: the first value that the claim contains decides.
  role_map jsonb not null check (jsonb_typeof(role_map) = 'array'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- Which account an identity at a provider signs in to. `org_id` is null for the provider of the
-- server.
create table sso_identities (
  id uuid primary key,
  org_id uuid references organizations (id),
  issuer text not null,
  subject text not null check (length(subject) between 1 and 255),
  user_id uuid not null references users (id),
  created_at timestamptz(3) not null,
  unique nulls not distinct (org_id, issuer, subject),
  -- An address that was given to another person does not open the account of the first one.
  unique nulls not distinct (org_id, issuer, user_id)
);

create index sso_identities_by_user on sso_identities (user_id);

-- Sign-ins that a browser has started at a provider. Each is completed once, by the same browser.
create table sso_requests (
  state_sha256 bytea primary key check (length(state_sha256) = 32),
  browser_sha256 bytea not null check (length(browser_sha256) = 32),
  org_id uuid references organizations (id),
  issuer text not null,
  nonce text not null,
  code_verifier text not null,
  next text not null,
  -- The user of the session that is confirmed. The provider asks for the password again.
  confirms_user_id uuid,
  expires_at timestamptz(3) not null
);

create index sso_requests_by_expiry on sso_requests (expires_at);

-- A session that the provider of an organization started opens only this organization: another
-- organization does not trust the provider.
alter table user_sessions add column org_id uuid references organizations (id);
