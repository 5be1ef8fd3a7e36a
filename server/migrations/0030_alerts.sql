-- Security alerts of connected code hosts. Nothing wrote to the table before.

-- Whether a dismissal of ours decides what is shown: while the host has not answered, and after it has accepted it
-- until it says something newer. Columns with `own_` are ours, the others are the host's.
create function own_dismissal_counts(
  own_delivery text, own_comment text, own_host_updated_at timestamptz,
  host_status text, host_comment text, host_updated_at timestamptz
) returns boolean
  language sql immutable parallel safe
  return case
    when own_delivery is null or own_delivery = 'failed' or host_status = 'fixed' then false
    when host_status = 'dismissed' then host_comment is not distinct from own_comment
    else own_delivery = 'pending' or host_updated_at <= own_host_updated_at
  end;

drop table security_alerts;
create table security_alerts (
  org_id uuid not null references organizations,
  id text collate "C" not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  provider text not null check (provider in ('github', 'gitlab', 'bitbucket', 'azure')),
  repository_id text collate "C" not null check (length(repository_id) between 1 and 100),
  -- As the repository is named now.
  repository text not null check (length(repository) between 3 and 300),
  type text not null check (type in ('code_scanning', 'dependabot', 'secret_scanning')),
  -- The host numbers the alerts of a type within a repository.
  number bigint not null check (number >= 0),
  -- Increases with each change, so that the change can be brought to the alert's finding.
  revision bigint not null default 1,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  title text not null,
  description text,
  package_ecosystem text,
  package_name text,
  vulnerable_versions text,
  patched_version text,
  cve_id text,
  ghsa_id text,
  advisory_url text,
  github_alert_url text,
  "references" jsonb not null check (jsonb_typeof("references") = 'array'),
  path text,
  start_line integer,
  end_line integer,
  start_column integer,
  end_column integer,
  commit_sha text,
  git_ref text,
  rule_id text,
  tool_name text,
  tool_version text,
  cwes text[] not null,
  cvss_version text,
  cvss_score real,
  cvss_vector text,
  secret_type text,
  -- A keyed hash of the secret. The secret itself is never stored.
  secret_hash bytea check (length(secret_hash) = 16),
  detected_at timestamptz(3) not null,
  fixed_at timestamptz(3),
  dismissed_by text,
  dismissed_by_name text,
  dismiss_reason text,
  dismiss_comment text,
  dismissed_at timestamptz(3),
  -- The version of the host's facts: an older one never replaces a newer one. Of two versions with the same time, the
  -- later state counts, then the one that states more, then a hash of all facts, so that the order of arrival never counts.
  host_updated_at timestamptz(3) not null,
  host_status text not null check (host_status in ('open', 'dismissed', 'fixed')),
  host_facts integer not null,
  host_hash bytea not null check (length(host_hash) = 16),
  -- The newest dismissal in Shiplock. `own_host_updated_at` is the host's version that was dismissed.
  own_dismissed_by text,
  own_dismissed_by_name text,
  own_dismiss_reason text,
  own_dismiss_comment text,
  own_dismissed_at timestamptz(3),
  own_host_updated_at timestamptz(3),
  own_delivery text check (own_delivery in ('pending', 'delivered', 'failed')),
  -- The call whose end was recorded last: an event may be delivered twice.
  own_ended_call uuid,
  is_dismissed_here boolean not null generated always as (
    own_dismissal_counts(
      own_delivery, own_dismiss_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at
    )
  ) stored,
  -- What is shown.
  status text not null generated always as (
    case
      when own_dismissal_counts(
        own_delivery, own_dismiss_comment, own_host_updated_at, host_status, dismiss_comment, host_updated_at
      ) then 'dismissed'
      else host_status
    end
  ) stored,
  created_at timestamptz(3) not null,
  primary key (org_id, id),
  check ((own_delivery is null) = (own_dismissed_at is null)),
  check ((own_delivery is null) = (own_host_updated_at is null))
);
create index security_alerts_by_creation on security_alerts (org_id, created_at, id);
create index security_alerts_by_status on security_alerts (org_id, status, created_at, id);
create index security_alerts_by_severity on security_alerts (org_id, severity, created_at, id);
create index security_alerts_by_repository on security_alerts (org_id, provider, repository_id, id);

-- The finding of each alert, and the revision of the alert that the finding shows. Only the job that writes the findings
-- writes here, so that it never waits for events of the same alerts.
create table alert_findings (
  org_id uuid not null,
  alert_id text collate "C" not null,
  finding_id uuid not null,
  revision bigint not null,
  primary key (org_id, alert_id),
  foreign key (org_id, alert_id) references security_alerts (org_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);

-- Alerts and reports of one tool and branch are different streams: a report says what a scan found, and alerts
-- state themselves whether they are fixed.
drop index finding_streams_by_identity;
create unique index finding_streams_by_identity
  on finding_streams (
    org_id, repository_no, coalesce(category, ''), branch_name(git_ref), tool, (origin = 'alert')
  );
