-- How users prove who they are: passwords with TOTP, and passkeys. Users have no org_id.

create table user_passwords (
  user_id uuid primary key references users (id),
  -- argon2id as a PHC string, which contains its parameters.
  password_hash text not null check (length(password_hash) between 1 and 300),
  changed_at timestamptz(3) not null
);

create table user_totp (
  user_id uuid primary key references users (id),
  sealed_secret text not null,
  created_at timestamptz(3) not null,
  -- Null until the user has confirmed the enrolment with a code.
  confirmed_at timestamptz(3),
  -- The time step of the last accepted code (RFC 6238). No earlier code is accepted.
  last_step bigint not null
);

create table recovery_codes (
  user_id uuid not null references users (id),
  code_sha256 bytea not null check (length(code_sha256) = 32),
  created_at timestamptz(3) not null,
  primary key (user_id, code_sha256)
);

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id),
  -- base64url, as browsers send it.
  credential_id text not null unique check (length(credential_id) between 1 and 1400),
  -- A COSE key (RFC 9052).
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null check (length(name) between 1 and 100),
  is_synced boolean not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3)
);

create index passkeys_by_user on passkeys (user_id, created_at);

-- Challenges that were not answered yet. The user of a registration may not exist yet.
create table passkey_challenges (
  challenge_sha256 bytea primary key check (length(challenge_sha256) = 32),
  purpose text not null check (purpose in ('sign_in', 'confirm', 'register')),
  user_id uuid,
  expires_at timestamptz(3) not null,
  check ((purpose = 'sign_in') = (user_id is null))
);

create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

-- Attempts of a window of time, by account or by address.
create table sign_in_attempts (
  key text primary key check (length(key) <= 100),
  window_started_at timestamptz(3) not null,
  attempts integer not null
);

create index sign_in_attempts_by_time on sign_in_attempts (window_started_at);
