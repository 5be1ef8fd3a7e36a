-- earlier: 0042_trust_classes.sql b95693d92731d3032a1870836786e99deea8654c52a0ee2a04c04d4be291d1e0
-- earlier: 0042_trust_classes.sql 729b453ff98fd301f005fd36cce064b86280c1cb8934c013056c45db5b7fb5d2
-- earlier: 0042_trust_classes.sql 9992f281be9cc02ec22f10621cc8cec6f2ed1256f96e9d5ff2c38e4732f5ff77
-- The first version had neither the trust of attempts and uploads nor the repository of artifacts. Claims
-- did not need a repository then: a repository without claims is forgotten, and the other way round.
alter table deployments alter column commit_sha drop not null;
update ci_runs
set claims = null, claimed_provider = null, claimed_repository_id = null
where num_nonnulls(claims, claimed_provider, claimed_repository_id) not in (0, 3);
alter table ci_runs
  drop constraint ci_runs_claimed_check,
  add constraint ci_runs_claimed_check check (num_nonnulls(claims, claimed_provider, claimed_repository_id) in (0, 3));
create index if not exists ci_runs_by_claimed on ci_runs (org_id, repository, created_at)
  where claimed_provider is not null;
drop index if exists ci_runs_open_verified;
create index if not exists ci_runs_open_at_host on ci_runs (org_id, created_at)
  where completed_at is null and provider <> 'other';

do $$
begin
  if exists (select from pg_attribute where attrelid = 'ci_run_attempts'::regclass and attname = 'trust') then
    return;
  end if;
  alter table ci_run_attempts add column trust text not null default 'self_reported'
    check (trust in ('verified', 'self_reported', 'untrusted'));
  update ci_run_attempts attempt
  set trust = 'verified'
  from ci_runs run
  where run.org_id = attempt.org_id
    and run.id = attempt.run_id
    and run.provider <> 'other';
  alter table security_uploads add column trust text not null default 'uploaded'
    check (trust in ('uploaded', 'verified', 'self_reported', 'untrusted'));
  update security_uploads
  set trust = 'self_reported'
  where origin = 'report';
end $$;
alter table ci_run_attempts alter column trust drop default;
alter table ci_reports alter column trust drop default;
alter table ci_attestations alter column trust drop default;
alter table ci_artifacts alter column trust drop default;
alter table security_uploads alter column trust drop default;

alter table ci_artifacts add column if not exists claimed_provider text;
alter table ci_artifacts add column if not exists claimed_repository_id text;
alter table ci_artifacts add column if not exists claimed_repository text;
-- The name of the repository was not stored before.
update ci_artifacts
set claimed_provider = null, claimed_repository_id = null
where claimed_provider is not null
  and claimed_repository is null;
alter table ci_artifacts
  drop constraint if exists ci_artifacts_claimed_check,
  add constraint ci_artifacts_claimed_check
    check (num_nonnulls(claimed_provider, claimed_repository_id, claimed_repository) in (0, 3));
