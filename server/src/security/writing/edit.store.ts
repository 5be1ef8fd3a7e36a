import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { DisjointSets } from '../../platform/disjoint-sets.ts'
import type { Edit, Edits, Pin } from '../issues/grouping/pins.ts'
import type { MergeScope } from './grouping.store.ts'

/** Reads the splits and merges by people that contain any of these findings, oldest first. */
export async function findEdits(db: Db, orgId: string, findingIds: readonly string[]): Promise<Edits> {
  const pins = await db<Pin[]>`
    select pin.edit_no, pin.finding_id, pin.side
    from unnest(${findingIds}::uuid[]) pinned (finding_id)
    join issue_pins pin on pin.org_id = ${buildAverageId(db, orgId)} and pin.finding_id = pinned.finding_id
    order by pin.edit_no, pin.finding_id`
  if (pins.length === 0) return { edits: [], pins }
  const edits = await db<Edit[]>`
    select edit.no, triage.action, triage.created_by_name as by, triage.comment
    from issue_edits edit
    join triages triage on triage.org_id = edit.org_id and triage.id = edit.triage_id
    where edit.org_id = ${orgId}
      and edit.no = any(${[...new Set(pins.map(({ edit_no }) => edit_no))]}::bigint[])
    order by edit.no`
  return { edits, pins }
}

type Repository = Pick<MergeScope, 'org_id' | 'repository_no'>

/** Returns these buckets with all buckets that are joined with them. */
export async function listJoinedBuckets(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo }: Repository,
  buckets: readonly string[],
): Promise<string[]> {
  const rows = await db<{ bucket: string }[]>`
    select encode(other.bucket, 'hex') as bucket
    from unnest(${buckets}::text[]) hex
    join joined_buckets own
      on own.org_id = ${orgId}
      and own.repository_no = ${repositoryNo}
      and own.bucket = decode(hex, 'hex')
    join joined_buckets other
      on other.org_id = own.org_id
      and other.repository_no = own.repository_no
      and other.joined_as = own.joined_as`
  return [...new Set([...buckets, ...rows.map(({ bucket }) => bucket)])]
}

/** Joins buckets that contain findings of one issue. The repository must be locked. */
export async function upsertJoinedBuckets(
  tx: Tx,
  scope: Repository,
  together: readonly (readonly string[])[],
): Promise<void> {
  if (together.length === 0) return
  const known = await readJoined(tx, scope, together.flat())
  const all = [...new Set([...known.flat(), ...together.flat()])].sort()
  const numbers = new Map(all.map((bucket, index) => [bucket, index]))
  const sets = new DisjointSets(all.length)
  for (const [first, ...others] of [...known, ...together]) {
    for (const other of others) sets.join(numbers.get(first as string) as number, numbers.get(other) as number)
  }
  await tx`
    insert into joined_buckets (org_id, repository_no, bucket, joined_as)
    select ${scope.org_id}, ${scope.repository_no}, decode(bucket, 'hex'), decode(joined_as, 'hex')
    from unnest(${all}::text[], ${all.map((_, index) => all[sets.getRoot(index)] as string)}::text[])
      as joined (bucket, joined_as)
    on conflict (org_id, repository_no, bucket) do update
    set joined_as = excluded.joined_as
    where joined_buckets.joined_as <> excluded.joined_as`
}

/** The sets of joined buckets that contain any of these. */
async function readJoined(
  tx: Tx,
  { org_id, repository_no }: Repository,
  buckets: readonly string[],
): Promise<string[][]> {
  const rows = await tx<{ buckets: string[] }[]>`
    select array_agg(encode(bucket, 'hex')) as buckets
    from joined_buckets
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and joined_as in (
        select joined_as
        from joined_buckets
        join unnest(${buckets}::text[]) hex on bucket = decode(hex, 'hex')
        where org_id = ${org_id}
          and repository_no = ${repository_no}
      )
    group by joined_as`
  return rows.map((row) => row.buckets)
}
