-- A run that only a token knows has the fields that its claims give.
alter table ci_runs alter column commit_sha drop not null;
alter table ci_runs add column claims jsonb;
-- The repository of the claims: the provider and the id at the provider.
alter table ci_runs add column claimed_provider text;
alter table ci_runs add column claimed_repository_id text;
alter table ci_runs add constraint ci_runs_trust_check check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_runs add constraint ci_runs_claimed_check
  check ((claimed_provider is null) = (claimed_repository_id is null));
alter table ci_runs drop constraint ci_runs_check2;
-- Runs of connected code hosts have none of these columns.
alter table ci_runs add constraint ci_runs_source_check check (
  num_nonnulls(ci_system, credential_type, credential_id, credential_name, day, day_number, deadline_at)
    = case when provider = 'other' then 7 else 0 end
);

alter table ci_reports add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_attestations add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
alter table ci_artifacts add column trust text not null default 'self_reported'
  check (trust in ('verified', 'self_reported', 'untrusted'));
