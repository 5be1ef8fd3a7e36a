-- Retention: the run in progress, or the last one, and what was removed.
create table retention_state (
  singleton boolean primary key default true check (singleton),
  started_at timestamptz(3) not null,
  is_finished boolean not null default false,
  -- Of the last run that finished.
  finished_at timestamptz(3),
  seconds double precision,
  -- The organizations up to this id are done. Null at the start and at the end of a run.
  passed uuid check (passed is null or not is_finished)
);
create table retention_kinds (
  kind text primary key,
  removed bigint not null default 0 check (removed >= 0),
  removed_in_run bigint not null default 0 check (removed_in_run >= 0)
);

-- Retention may delete audit entries: it names the time before which they have expired.
create or replace function refuse_audit_deletion() returns trigger language plpgsql as $$
begin
  if old.at < nullif(current_setting('shiplock.audit_expired_before', true), '')::timestamptz
    or exists (select from organizations where id = old.org_id and deletion_started_at is not null)
  then
    return old;
  end if;
  raise exception '% is append only', tg_table_name;
end
$$;
