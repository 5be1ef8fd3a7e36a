-- run: batches of repositories
-- The same for linked and connected repositories. Their runs, deployments and alerts follow in the job
-- ci.normalize-addresses.
with changed as (
  update repositories linked
  set full_name = regexp_replace(linked.full_name, '^([^/]+/[^/]+)/_git/([^/]+)$', '\1/\2')
  where linked.full_name ~ '^[^/]+/[^/]+/_git/[^/]+$'
    and linked.provider = 'azure'
    and not exists (
      select
      from repositories other
      where other.org_id = linked.org_id
        and other.provider = 'azure'
        and lower(other.full_name) = lower(regexp_replace(linked.full_name, '^([^/]+/[^/]+)/_git/([^/]+)$', '\1/\2'))
    )
  returning 1
)
select null::text as position, (select count(*) from changed) as rows, $1::text as unused
