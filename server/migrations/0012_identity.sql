-- Accounts that an organization's identity provider makes are private to it: they reserve no address.
alter table users add column private_to uuid references organizations (id);
create unique index users_by_email on users (email) where private_to is null;
create unique index users_by_private_email on users (private_to, email) where private_to is not null;
alter table users drop constraint users_email_key;

-- An identity that was unlinked stays, so that nobody comes back with it as somebody new.
alter table sso_identities add column unlinked_at timestamptz(3);
-- The sign-in links the identity to the account that has asked for it.
alter table sso_requests add column links boolean not null default false;
