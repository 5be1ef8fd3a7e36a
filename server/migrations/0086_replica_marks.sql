-- The timeline of the primary server, written by the servers that read from a replica. A replica that
-- shows an earlier one does not follow the present primary server (docs/adr/0025-replica-reads.md).
create table replica_marks (
  is_only boolean primary key default true check (is_only),
  timeline integer not null
);
