-- Hosts without an App of ours are connected with credentials. They are sealed, together with the
-- secret of the connection's webhooks. Null: the App has the credentials, or the connection has
-- ended.
alter table codehost_connections
add column credentials text check (length(credentials) between 1 and 10000);

-- What the host gave us to answer a request with, sealed. Null: the connection can answer.
alter table deployment_gate_requests
add column callback_secret text check (length(callback_secret) between 1 and 10000);

-- What only Azure DevOps says of a run (specification, "Pipeline run").
alter table provider_runs
add column azure jsonb;
