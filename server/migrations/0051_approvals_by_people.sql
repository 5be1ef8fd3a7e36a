-- People answer gates. A required number of approvals counts people: the answer of an API key counts
-- as an answer of the person who created the key.

alter table deployment_answers
  -- The user who answered, or who created the API key that answered. Null for a key that was created
  -- at the command line.
  add column person_id uuid references users (id),
  alter column reason drop not null,
  add constraint deployment_answers_reason_check check (reason is not null or principal_type = 'user'),
  add constraint deployment_answers_person_check check (principal_type <> 'user' or person_id is not null);

-- The credential that opened the gate. Null for gates that were opened before this was stored.
alter table opened_gates add column credential_id uuid;

-- The audit log is filtered by who acted, what was done, and what it was done to; each filter has an
-- index in the order of the list.
drop index audit_entries_by_object;
create index audit_entries_by_principal_type on audit_entries (org_id, principal_type, at, id);
create index audit_entries_by_principal on audit_entries (org_id, principal_id, at, id);
create index audit_entries_by_action on audit_entries (org_id, action, at, id);
create index audit_entries_by_object_type on audit_entries (org_id, object_type, at, id);
create index audit_entries_by_object on audit_entries (org_id, object_id, at, id);

-- The deliveries of the code hosts of an organization, newest first.
create index codehost_deliveries_by_installation
on codehost_deliveries (provider, installation_id, received_at, id);
create index codehost_deliveries_failed_by_installation
on codehost_deliveries (provider, installation_id, received_at, id)
where status = 'failed';
