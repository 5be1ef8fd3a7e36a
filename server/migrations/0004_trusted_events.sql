-- What a trust lets count as verified beyond the events of a repository's own code, and which other
-- jobs presented tokens. Without a row in trust_events, nobody has to decide about an event.
alter table oidc_trusts
  add column trusted_events text[] not null default '{}' check (cardinality(trusted_events) <= 20),
  add column self_hosted boolean not null default false;

create table trust_events (
  org_id uuid not null,
  trust_id uuid not null,
  event text not null check (length(event) between 1 and 50),
  -- The job ran on a self-hosted runner of a public repository.
  self_hosted boolean not null,
  last_seen date not null,
  primary key (org_id, trust_id, event, self_hosted),
  foreign key (org_id, trust_id) references oidc_trusts (org_id, id)
);

-- The runs of the last 90 days, so that `doctor` knows at once which jobs are no longer verified.
insert into trust_events (org_id, trust_id, event, self_hosted, last_seen)
select trust.org_id, trust.id, seen.event, seen.self_hosted, seen.last_seen
from oidc_trusts trust
join (
  select org_id, credential_id, claims->>'event_name' as event,
    coalesce(claims->>'runner_environment' = 'self-hosted' and claims->>'repository_visibility' = 'public', false)
      as self_hosted,
    max(created_at)::date as last_seen
  from ci_runs
  where claimed_provider = 'github'
    and credential_type = 'oidc_trust'
    and created_at > now() - interval '90 days'
    and claims->>'event_name' ~ '^[a-z_]{1,50}$'
  group by 1, 2, 3, 4
) seen on seen.org_id = trust.org_id and seen.credential_id = trust.id
where seen.self_hosted
  or seen.event not in (
    'push', 'schedule', 'merge_group', 'workflow_dispatch', 'release', 'create', 'deployment', 'pull_request'
  );
