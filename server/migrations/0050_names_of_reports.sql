-- run: batches of reported_repositories
-- Repositories of Azure DevOps have one name, without _git (ci-evidence.md §1). One that was reported
-- under both names stays: its next reports are about the other one.
with changed as (
  update reported_repositories reported
  set name = regexp_replace(reported.name, '^([^/]+/[^/]+)/_git/([^/]+)$', '\1/\2')
  where reported.name ~ '^[^/]+/[^/]+/_git/[^/]+$'
    and (reported.provider is null or reported.provider = 'azure')
    and not exists (
      select
      from reported_repositories other
      where other.org_id = reported.org_id
        and coalesce(other.provider, '') = coalesce(reported.provider, '')
        and other.provider_id is null
        and reported.provider_id is null
        and lower(other.name) = lower(regexp_replace(reported.name, '^([^/]+/[^/]+)/_git/([^/]+)$', '\1/\2'))
    )
  returning 1
)
select null::text as position, (select count(*) from changed) as rows, $1::text as unused
