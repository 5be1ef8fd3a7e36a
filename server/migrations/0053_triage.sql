-- Decisions of people (and of VEX documents) about findings, on top of what reports say.

create table triages (
  org_id uuid not null references organizations,
  id uuid not null,
  action text not null check (action in ('dismiss', 'reopen', 'split', 'merge')),
  -- A person in Shiplock, or the format of the document that states it.
  source text not null check (source in ('shiplock', 'openvex', 'csaf')),
  -- What was triaged, as the request named it.
  target_type text not null check (target_type in ('finding', 'issue', 'alert')),
  target_ids text[] not null,
  reason text check (length(reason) between 1 and 100),
  comment text check (length(comment) between 1 and 2000),
  expires_at timestamptz(3),
  -- Null if a document states it.
  created_by_id text,
  created_by_name text,
  created_at timestamptz(3) not null,
  -- A triage that has ended no longer affects its findings.
  ended_as text check (ended_as in ('undone', 'expired', 'replaced')),
  ended_by_id text,
  ended_by_name text,
  ended_at timestamptz(3),
  primary key (org_id, id),
  check ((action = 'dismiss') = (reason is not null)),
  check (expires_at is null or action = 'dismiss'),
  check ((ended_as is null) = (ended_at is null))
);
-- Ids are made at the moment of creation and sort by it: the primary key serves the list of all triages.
create index triages_by_target on triages using gin (target_ids);
create index triages_by_expiry on triages (expires_at) where ended_at is null and expires_at is not null;

-- The findings that a dismissal or a reopening affects. A newer row counts before an older one, and a person before a
-- document. Findings that follow the triage of their issue are added later.
create table triage_findings (
  org_id uuid not null,
  triage_id uuid not null,
  finding_id uuid not null,
  no bigint generated always as identity,
  primary key (org_id, triage_id, finding_id),
  foreign key (org_id, triage_id) references triages (org_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index triage_findings_by_finding on triage_findings (org_id, finding_id, no);

-- The alerts that a triage dismissed or reopened at their code host, and their dismissal before.
create table triage_alerts (
  org_id uuid not null,
  triage_id uuid not null,
  alert_id text collate "C" not null,
  no bigint generated always as identity,
  status_before text not null check (status_before in ('open', 'dismissed')),
  reason_before text,
  comment_before text,
  primary key (org_id, triage_id, alert_id),
  foreign key (org_id, triage_id) references triages (org_id, id),
  foreign key (org_id, alert_id) references security_alerts (org_id, id)
);
create index triage_alerts_by_alert on triage_alerts (org_id, alert_id, no);
create index alert_findings_by_finding on alert_findings (org_id, finding_id);

-- Reports of repositories without triages skip the steps that triages need.
alter table reported_repositories add column has_triages boolean not null default false;

-- The state of a finding that readers see. A dismissal stays if reports no longer contain the finding. A reopened finding
-- can be fixed.
create function shown_state(reported_state text, triaged_state text) returns text
  language sql immutable parallel safe
  return case
    when triaged_state = 'dismissed' then 'dismissed'
    when triaged_state = 'open' and reported_state = 'dismissed' then 'open'
    else reported_state
  end;

-- Columns with `reported_` are what reports and alerts state. Nothing writes the shown state.
alter table findings drop column facet;
alter table findings rename column state to reported_state;
alter table findings rename column dismiss_reason to reported_dismiss_reason;
alter table findings rename column dismiss_comment to reported_dismiss_comment;
alter table findings rename column dismissed_by_name to reported_dismissed_by_name;
alter table findings rename column dismissed_at to reported_dismissed_at;
alter table findings rename column dismissal_source to reported_dismissal_source;
alter table findings
  -- The triage that decides the state. No foreign key: its check of each row would slow down imports.
  add column triage_id uuid,
  add column triaged_state text check (triaged_state in ('open', 'dismissed')),
  add column state text not null generated always as (shown_state(reported_state, triaged_state)) stored,
  add column facet smallint not null
    generated always as (finding_facet(shown_state(reported_state, triaged_state), severity, kind)) stored,
  add constraint findings_triage check ((triage_id is null) = (triaged_state is null));
create index findings_by_facet on findings (org_id, facet, id);
create index findings_by_stream on findings (stream_id, id) include (facet);

-- Alerts can be reopened in Shiplock, too. `own_status` is what the newest decision in Shiplock made of the alert.
alter table security_alerts
  drop column is_dismissed_here,
  drop column status;
drop function own_dismissal_counts;
alter table security_alerts rename column own_dismissed_by to own_by;
alter table security_alerts rename column own_dismissed_by_name to own_by_name;
alter table security_alerts rename column own_dismiss_reason to own_reason;
alter table security_alerts rename column own_dismiss_comment to own_comment;
alter table security_alerts rename column own_dismissed_at to own_at;
alter table security_alerts
  add column own_status text check (own_status in ('open', 'dismissed')),
  -- The call that tells the host. The end of the call of an earlier decision changes nothing.
  add column own_call uuid,
  drop column own_ended_call;
update security_alerts alert
set own_status = 'dismissed', own_call = (
  select id
  from codehost_calls call
  where call.org_id = alert.org_id
    and call.subject_type = 'alert'
    and call.subject_id = alert.id
  order by number desc
  limit 1
)
where own_delivery is not null;

-- Whether the decision in Shiplock is what is shown: while the host has not answered, and after it has accepted it until it
-- says something newer.
create function own_decision_counts(
  own_status text, own_delivery text, own_comment text, own_host_updated_at timestamptz,
  host_status text, host_comment text, host_updated_at timestamptz
) returns boolean
  language sql immutable parallel safe
  return case
    when own_delivery is null or own_delivery = 'failed' or host_status = 'fixed' then false
    when own_status = host_status then own_status = 'dismissed' and host_comment is not distinct from own_comment
    else own_delivery = 'pending' or host_updated_at <= own_host_updated_at
  end;

alter table security_alerts
  add constraint security_alerts_own_status check ((own_delivery is null) = (own_status is null)),
  add column is_decided_here boolean not null generated always as (
    own_decision_counts(
      own_status, own_delivery, own_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at
    )
  ) stored,
  -- What is shown.
  add column status text not null generated always as (
    case
      when own_decision_counts(
        own_status, own_delivery, own_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at
      ) then own_status
      else host_status
    end
  ) stored;
create index security_alerts_by_status on security_alerts (org_id, status, created_at, id);
