-- A run that only a token knows has the fields that its claims give.
alter table ci_runs alter column commit_sha drop not null;
alter table deployments alter column commit_sha drop not null;

alter table ci_runs add column claims jsonb;
-- The repository of the claims: the provider and the id at the provider.
alter table ci_runs add column claimed_provider text;
alter table ci_runs add column claimed_repository_id text;
alter table ci_runs add constraint ci_runs_trust_check check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_runs add constraint ci_runs_claimed_check
  check (num_nonnulls(claims, claimed_provider, claimed_repository_id) in (0, 3));
alter table ci_runs drop constraint ci_runs_check2;
-- Runs of connected code hosts have none of these columns.
alter table ci_runs add constraint ci_runs_source_check check (
  num_nonnulls(ci_system, credential_type, credential_id, credential_name, day, day_number, deadline_at)
    = case when provider = 'other' then 7 else 0 end
);
create index ci_runs_by_claimed on ci_runs (org_id, repository, created_at) where claimed_provider is not null;
drop index ci_runs_open_verified;
create index ci_runs_open_at_host on ci_runs (org_id, created_at) where completed_at is null and provider <> 'other';

-- The trust of an earlier attempt. That of the newest attempt is the trust of its run.
alter table ci_run_attempts add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
update ci_run_attempts attempt
set trust = 'verified'
from ci_runs run
where run.org_id = attempt.org_id
  and run.id = attempt.run_id
  and run.provider <> 'other';
alter table ci_run_attempts alter column trust drop default;

alter table ci_reports add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_reports alter column trust drop default;
alter table ci_attestations add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_attestations alter column trust drop default;
alter table ci_artifacts add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_artifacts alter column trust drop default;
-- The repository of the token that declared the artifact.
alter table ci_artifacts add column claimed_provider text;
alter table ci_artifacts add column claimed_repository_id text;
-- host/owner/name
alter table ci_artifacts add column claimed_repository text;
alter table ci_artifacts add constraint ci_artifacts_claimed_check
  check (num_nonnulls(claimed_provider, claimed_repository_id, claimed_repository) in (0, 3));

-- An API key and the console upload a report; a CI job has a trust class.
alter table security_uploads add column trust text not null default 'uploaded'
  check (trust in ('uploaded', 'verified', 'self_reported', 'untrusted'));
update security_uploads
set trust = 'self_reported'
where origin = 'report';
alter table security_uploads alter column trust drop default;
