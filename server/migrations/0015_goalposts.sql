-- run: statement by statement
-- A deployment is asked under the versions of its opening and of now, and for a day after a change
-- also under the one before (trust.md §5).

-- What changed within the last day.
create index concurrently if not exists gate_versions_by_age on gate_versions (org_id, created_at);

-- When settings that a deployment keeps were changed, or the gate deleted. Null if those of the
-- opening decide.
alter table required_gates add column if not exists replaced_at timestamptz(3);

-- When the policies of a waiting deployment must be evaluated again, because an earlier version of
-- one of them is asked until then.
alter table deployments add column if not exists policies_again_at timestamptz(3);
create index concurrently if not exists deployments_to_evaluate_again
  on deployments (policies_again_at) where policies_again_at is not null and custom_rule_state = 'pending';

-- A removal says when it was, also if no person did it.
alter table policy_versions
  drop constraint if exists policy_versions_removed_check,
  drop constraint if exists policy_versions_removed_by_check,
  add constraint policy_versions_removed_by_check
    check (removed_by_id is null or removed_at is not null) not valid;
alter table policy_versions validate constraint policy_versions_removed_by_check;

-- Whether changes of gates and policies by people wait for a second person.
alter table organizations add column if not exists two_person_changes boolean not null default false;

-- Such changes, until somebody confirms or withdraws them. `content` is what is to be stored; null for
-- a deletion. `base_version` is that of the gate or policy when it was proposed; 0 for a new one.
create table if not exists pending_changes (
  org_id uuid not null references organizations,
  id uuid not null,
  kind text not null check (kind in ('gate', 'policy')),
  action text not null check (action in ('create', 'change', 'delete')),
  object_id uuid check (object_id is not null or action = 'create'),
  name text not null,
  content jsonb check (content is not null or action = 'delete'),
  base_version integer not null,
  author_id uuid not null,
  author_name text not null,
  reason text,
  created_at timestamptz(3) not null,
  primary key (org_id, id)
);
