-- The synchronization of connections with their code hosts: what is due, and how far it is.

create table codehost_syncs (
  org_id uuid not null,
  connection_id uuid not null,
  -- Counts the synchronizations of the connection.
  number integer not null default 0 check (number >= 0),
  -- The oldest unanswered request, and how far back it reaches. Null while nothing is requested.
  requested_at timestamptz(3),
  requested_since timestamptz(3),
  -- The synchronization in progress. Null while there is none.
  started_at timestamptz(3),
  since timestamptz(3),
  phase text check (phase in ('deliveries', 'repositories', 'objects')),
  repositories_next text,
  -- Identifies the list of repositories, if it is one page.
  repositories_etag text,
  -- When to start, continue or try again.
  due_at timestamptz(3) not null,
  -- Pauses in a row without progress between them.
  pauses integer not null default 0 check (pauses >= 0),
  primary key (org_id, connection_id),
  unique (connection_id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id),
  check ((started_at is null) = (phase is null))
);

create index codehost_syncs_due on codehost_syncs (due_at);

create table codehost_sync_repositories (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  -- The number of the last synchronization that found the repository in the host's list, and of the
  -- last one that has read its lists.
  listed_in integer,
  read_in integer,
  -- What could not be read.
  note text,
  primary key (org_id, connection_id, repository_id),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id)
);

create table codehost_sync_lists (
  org_id uuid not null,
  connection_id uuid not null,
  repository_id text not null,
  list text not null,
  -- The synchronization that read the first page, and the version of that page.
  read_in integer not null,
  etag text,
  -- The page to continue with. Null after the last one.
  next text,
  -- Where reading ends: at items that were changed earlier. Null: at the end of the list.
  until timestamptz(3),
  -- The host's time of the newest change on the first page.
  newest_at timestamptz(3),
  primary key (org_id, connection_id, repository_id, list),
  foreign key (org_id, connection_id) references codehost_connections (org_id, id)
);

-- Failed deliveries that the host was asked to deliver again.
create table codehost_redeliveries (
  provider text not null,
  delivery_id text collate "C" not null,
  -- The host's id of the failed try. Another one fails under another id.
  failed_id text collate "C" not null,
  requested_at timestamptz(3) not null,
  primary key (provider, delivery_id)
);

create index codehost_redeliveries_by_time on codehost_redeliveries (requested_at);

-- Until when failed deliveries have been looked for.
create table codehost_delivery_checks (
  provider text primary key,
  checked_at timestamptz(3) not null
);
