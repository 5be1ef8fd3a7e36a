-- Who made what people can manage: keys and trusts name the person who created them; gates and
-- policies keep their versions with who changed them and why.

alter table api_keys add column created_by_user_id uuid references users (id);
alter table oidc_trusts add column created_by_user_id uuid references users (id);

alter table configured_gates
  add column version integer not null default 1 check (version >= 1),
  add column updated_at timestamptz(3);
update configured_gates set updated_at = created_at;
alter table configured_gates
  alter column version drop default,
  alter column updated_at set not null;

-- Every version of a gate, also of deleted gates. Never changed. The principal is null if no audit
-- entry names it.
create table gate_versions (
  org_id uuid not null references organizations (id),
  gate_id uuid not null,
  version integer not null check (version >= 1),
  name text not null,
  environment text not null,
  repository text,
  branch text,
  required_approvals smallint not null,
  allow_api_keys boolean not null,
  allow_run_creator boolean not null,
  policies text[] not null,
  principal_type text,
  principal_id text,
  principal_name text,
  reason text,
  created_at timestamptz(3) not null,
  primary key (org_id, gate_id, version),
  check (num_nulls(principal_type, principal_name) in (0, 2))
);

insert into gate_versions (
  org_id, gate_id, version, name, environment, repository, branch, required_approvals, allow_api_keys,
  allow_run_creator, policies, principal_type, principal_id, principal_name, created_at
)
select gate.org_id, gate.id, 1, gate.name, gate.environment, gate.repository, gate.branch, gate.required_approvals,
  gate.allow_api_keys, gate.allow_run_creator, gate.policies, entry.principal_type, entry.principal_id,
  entry.principal_name, gate.created_at
from configured_gates gate
left join lateral (
  select principal_type, principal_id, principal_name
  from audit_entries
  where org_id = gate.org_id
    and object_type = 'gate'
    and object_id = gate.id::text
    and action = 'gate.create'
  order by at, id
  limit 1
) entry on true;

alter table policy_versions
  -- The file as it was applied. Null for versions that were applied before files were stored.
  add column source text,
  add column principal_type text,
  add column principal_id text,
  add column principal_name text,
  add column reason text,
  add check (num_nulls(principal_type, principal_name) in (0, 2));

update policy_versions stored
set principal_type = entry.principal_type, principal_id = entry.principal_id, principal_name = entry.principal_name
from audit_entries entry
where entry.org_id = stored.org_id
  and entry.object_type = 'policy'
  and entry.object_id = stored.policy_id::text
  and entry.action = 'policy.apply'
  and entry.details ->> 'version' = stored.version::text;

-- People can delete the policies of their organization, too.
alter table policies drop constraint policies_check1;
