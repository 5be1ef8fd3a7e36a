-- Lists of a repository that its host does not let us read, such as its runs or alerts. A row stays until the
-- list is read again. `repository_id` is empty where the host refuses the list of repositories itself.
create table codehost_refusals (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null check (length(repository_id) <= 200),
  -- The name of the repository when its lists were last read.
  repository text check (length(repository) <= 500),
  list text not null check (length(list) between 1 and 50),
  status integer not null,
  message text not null check (length(message) <= 500),
  since timestamptz(3) not null,
  primary key (org_id, connection_id, repository_id, list),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id)
);

-- What still holds a waiting deployment of a code host. Null for deployments of opened gates, and for those that
-- were stored before and have not changed since.
alter table deployments add column awaiting text[];

-- What orders the versions of a run that deployments show, as for runs themselves. Null for runs that were stored
-- before.
alter table deployment_runs add column host_version text collate "C";

-- When the host was asked for the version of an alert that is stored. Null for alerts that were stored before.
alter table security_alerts add column host_read_at timestamptz(3);
