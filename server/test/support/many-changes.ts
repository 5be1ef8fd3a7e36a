import type { Caller, TestApi } from './api.ts'
import { mergedRecord, pushedRecord } from './change-records.ts'
import { link } from './repositories.ts'
import { storeChange } from './stored-changes.ts'

/** How many changes have the rare values of `insertChanges`. */
export const RARE_CHANGES = 30

/**
 * Copies of a merged and of a pushed change by turns, each a second older than the one before. Some
 * are rare: on the branch `rare`, of the repository `acme/rare`, unsigned, and with a rare commit.
 * The other pushes are direct pushes.
 */
export async function insertChanges(api: TestApi, caller: Caller, count: number): Promise<void> {
  for (const [id, name] of [
    ['1001', 'acme/widgets'],
    ['2002', 'acme/rare'],
  ] as const)
    await link(api, caller, { provider: 'github', id, name })
  await storeChange(api.services, caller, mergedRecord())
  await storeChange(api.services, caller, pushedRecord())
  const { sql } = api.services
  const every = Math.floor(count / RARE_CHANGES)
  await sql`
    with original as (
      select change.*, link.body, link.at, link.mac, row_number() over (order by change.id) - 1 as turn
      from changes change
      join chain_links link on link.org_id = change.org_id and link.change_id = change.id
      where change.org_id = ${caller.orgId}
    ),
    copy as materialized (
      select original.*, nth, nth % ${every} = 0 as rare, original.id || '_' || nth as copy_id,
        case when nth % ${every} = 0 then '2002' else original.repository_id end as copy_repository_id
      from generate_series(1, ${count}::int) nth
      join original on original.turn = nth % 2
    ),
    linked as (
      insert into chain_links (
        org_id, provider, repository_id, index, kind, change_id, at, previous_hash, hash, body, mac
      )
      select org_id, provider, copy_repository_id, nth + 1, 'record', copy_id, at, mac, mac, body, mac
      from copy
    ),
    changed as (
      insert into changes (
        org_id, id, provider, repository_id, branch, landed_by, pull_request, push_id, merge_sha, link_index,
        last_index, deviations, created_at, recorded_at
      )
      select org_id, copy_id, provider, copy_repository_id, case when rare then 'rare' else branch end, landed_by,
        pull_request + nth, push_id || nth, merge_sha, nth + 1, nth + 1,
        case when rare then '{unsigned_commit}' else deviations end, created_at - nth * interval '1 second', recorded_at
      from copy
    )
    insert into change_commits (org_id, provider, repository_id, sha, change_id)
    select org_id, provider, copy_repository_id,
      case when rare then repeat('c', 40) else md5(nth::text) || left(md5(nth::text), 8) end, copy_id
    from copy`
}
