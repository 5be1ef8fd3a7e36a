-- run: statement by statement
-- A dismissal ends for a finding that changes into something that nobody looked at (decisions.md §7).

-- When the triage ended for this finding alone, and what had changed of it. Null while it applies.
alter table triage_findings add column if not exists ended_at timestamptz(3);
alter table triage_findings add column if not exists changed text[];
-- The regroup that ended it, which can be undone.
alter table triage_findings add column if not exists regroup_id uuid;
alter table issue_regroups add column if not exists reopened bigint not null default 0;

-- What a dismissal reaches later: its issue at the same place, or the vulnerability in the package at
-- any place and version.
alter table triages add column if not exists scope text not null default 'issue';
alter table triages
  drop constraint if exists triages_scope_check,
  add constraint triages_scope_check check (scope in ('issue', 'vulnerability')) not valid;
alter table triages validate constraint triages_scope_check;

-- Results that reports tell apart are no longer one issue by their rule: every organization is
-- regrouped once. What only followed a dismissal, with other marks, opens with that.
insert into issue_rule_changes (org_id) select id from organizations on conflict do nothing;
