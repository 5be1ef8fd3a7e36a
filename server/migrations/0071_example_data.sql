-- Example data: an organization of its own, and people who exist only there.
alter table organizations
  add column is_demo boolean not null default false,
  add column deletion_started_at timestamptz(3);
create unique index one_demo_organization on organizations (is_demo) where is_demo;

alter table users add column example_of uuid references organizations (id);
create index users_of_examples on users (example_of) where example_of is not null;

-- The audit log is deleted only with its organization, which is marked first.
create function refuse_audit_deletion() returns trigger language plpgsql as $$
begin
  if exists (select from organizations where id = old.org_id and deletion_started_at is not null) then
    return old;
  end if;
  raise exception '% is append only', tg_table_name;
end
$$;
drop trigger audit_entries_are_append_only on audit_entries;
create trigger audit_entries_are_append_only
  before update or truncate on audit_entries
  for each statement execute function refuse_change();
create trigger audit_entries_are_kept
  before delete on audit_entries
  for each row execute function refuse_audit_deletion();
