-- Who had an account on a code host last, and the sessions that an organization's provider started.

create index codehost_connections_of_account on codehost_connections (provider, host, account_id, connected_at, id);
create index user_sessions_of_provider on user_sessions (org_id) where org_id is not null and ended_at is null;
