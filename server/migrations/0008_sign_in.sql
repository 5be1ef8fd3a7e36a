-- A pause after failed attempts, until which further ones are refused.
alter table sign_in_attempts add column blocked_until timestamptz(3);

-- Browsers in which a person has signed in. The failed attempts of others do not limit them.
create table known_browsers (
  user_id uuid not null references users (id),
  token_sha256 bytea not null check (length(token_sha256) = 32),
  last_used_at timestamptz(3) not null,
  primary key (user_id, token_sha256)
);
create index known_browsers_by_use on known_browsers (last_used_at);

-- From where requests with X-Forwarded-For came while no setting said whether that is a proxy.
create table unstated_proxies (
  address text primary key check (length(address) between 1 and 64),
  last_seen date not null
);
