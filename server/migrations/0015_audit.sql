-- Who did what, on which object, and why. Entries are only ever added.
create table audit_entries (
  org_id uuid not null references organizations,
  id uuid not null,
  at timestamptz(3) not null,
  principal_type text not null check (principal_type in ('api_key', 'user', 'policy', 'system', 'command_line')),
  principal_id text,
  principal_name text not null,
  action text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  object_type text not null,
  object_id text not null,
  reason text,
  details jsonb not null default '{}' check (jsonb_typeof(details) = 'object'),
  primary key (org_id, id)
);
create index audit_entries_by_time on audit_entries (org_id, at, id);
create index audit_entries_by_object on audit_entries (org_id, object_type, object_id, at, id);

create function refuse_change() returns trigger
  language plpgsql
  as $$ begin raise exception '% is append only', tg_table_name; end $$;
create trigger audit_entries_are_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change();
