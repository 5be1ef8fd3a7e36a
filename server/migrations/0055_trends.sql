-- Charts read daily figures instead of counting a million runs or issues.

-- The runs that were created on a day (UTC), by repository and status. Written by a job for days
-- before `trend_progress.until`; charts count later days themselves.
create table run_days (
  org_id uuid not null,
  day date not null,
  repository text not null,
  status text not null,
  runs integer not null check (runs > 0),
  primary key (org_id, day, repository, status)
);

-- The deployments that were created on a day (UTC) and finished, by repository and environment. Medians need every
-- lead time and time to restore.
create table delivery_days (
  org_id uuid not null,
  day date not null,
  environment text not null,
  repository text not null,
  deployments integer not null check (deployments > 0),
  failed integer not null check (failed between 0 and deployments),
  lead_seconds integer[] not null,
  restore_seconds integer[] not null,
  primary key (org_id, day, environment, repository)
);

-- The first day of an organization whose figures are not counted yet.
create table trend_progress (
  org_id uuid not null references organizations (id),
  trend text not null check (trend in ('runs', 'delivery')),
  until date not null,
  primary key (org_id, trend)
);

-- The changes that a deployment contains.
create index changes_by_landing on changes (repository_key(org_id, provider, repository_id), branch, created_at);

-- The open issues of an organization at the end of a day (UTC), or now for today.
create table issue_days (
  org_id uuid not null references organizations (id),
  day date not null,
  critical integer not null check (critical >= 0),
  high integer not null check (high >= 0),
  medium integer not null check (medium >= 0),
  low integer not null check (low >= 0),
  info integer not null check (info >= 0),
  -- Null without open issues, and for days before the first count.
  median_age_seconds bigint check (median_age_seconds >= 0),
  counted_at timestamptz(3) not null,
  primary key (org_id, day)
);

insert into run_days (org_id, day, repository, status, runs)
select org_id, (created_at at time zone 'UTC')::date, repository, status, count(*)
from ci_runs
where created_at < date_trunc('day', now(), 'UTC') - interval '4 days'
group by 1, 2, 3, 4;

insert into trend_progress (org_id, trend, until)
select id, 'runs', (now() at time zone 'UTC')::date - 4
from organizations;

-- The past is not recorded: an issue counts as open from its creation until its last update if it is
-- closed now.
with changed as (
  select org_id, (created_at at time zone 'UTC')::date as day, severity, 1 as change
  from security_issues
  where listed
  union all
  select org_id, (updated_at at time zone 'UTC')::date, severity, -1
  from security_issues
  where listed and status <> 'open'
),
daily as (
  select org_id, day, severity, sum(change) as change
  from changed
  group by org_id, day, severity
),
counted as (
  select org_id, day,
    sum(sum(change) filter (where severity = 4)) over so_far as critical,
    sum(sum(change) filter (where severity = 3)) over so_far as high,
    sum(sum(change) filter (where severity = 2)) over so_far as medium,
    sum(sum(change) filter (where severity = 1)) over so_far as low,
    sum(sum(change) filter (where severity = 0)) over so_far as info
  from daily
  group by org_id, day
  window so_far as (partition by org_id order by day)
)
insert into issue_days (org_id, day, critical, high, medium, low, info, counted_at)
select org_id, day, coalesce(critical, 0), coalesce(high, 0), coalesce(medium, 0), coalesce(low, 0), coalesce(info, 0),
  now()
from counted;
