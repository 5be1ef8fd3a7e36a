import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import { type ChainPosition, getPosition, type Link } from '../chain/link.ts'
import { getStatedCommits } from '../chain/stated-change.ts'
import type { Amendment, ChangeRecord, Deviation } from './change-record.ts'
import type { Landing } from './landing.store.ts'

/** A change with its record. `record` is null after retention has removed it. */
export type StoredChange = {
  org_id: string
  id: string
  provider: string
  repository_id: string
  merge_sha: string
  landed_at: Date
  record: ChangeRecord | null
  amendments: (Amendment & { chain: ChainPosition })[]
  chain: ChainPosition
  /** The last link that concerns the change. */
  last_index: number
}

export async function findChange(db: Db, orgId: string, id: string): Promise<StoredChange | null> {
  return findOne(db, db`change.org_id = ${orgId} and change.id = ${id}`)
}

/** The change of a pull request; null if it has none, or its record is not written yet. */
export async function findChangeOfPullRequest(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  number: number,
): Promise<StoredChange | null> {
  return findOne(
    db,
    db`change.org_id = ${org_id}
      and change.provider = ${provider}
      and change.repository_id = ${repository_id}
      and change.pull_request = ${number}`,
  )
}

/**
 * SQL: selects the id of the change that a commit landed with: the one that ends with it, else the
 * newest one that lists it. `alias` has `org_id`, `provider`, `repository_id` and `commit_sha`.
 */
export function buildChangeId(db: Db, orgId: string, alias: string) {
  const of = db(alias)
  return db`
    select change.id
    from change_commits listed
    join changes change on change.org_id = listed.org_id and change.id = listed.change_id
    where listed.org_id = ${of}.org_id ${buildSpreadCondition(db, 'listed', orgId)} ${buildSpreadCondition(db, 'change', orgId)}
      and listed.provider = ${of}.provider
      and listed.repository_id = ${of}.repository_id
      and listed.sha = ${of}.commit_sha
    order by change.merge_sha = ${of}.commit_sha desc, change.created_at desc, change.id desc
    limit 1`
}

type ChangeRow = Omit<StoredChange, 'record' | 'amendments' | 'chain'>

async function findOne(db: Db, condition: ReturnType<Db>): Promise<StoredChange | null> {
  const [row] = await db<ChangeRow[]>`
    select change.org_id, change.id, change.provider, change.repository_id, change.merge_sha,
      change.created_at as landed_at, change.last_index
    from changes change
    where ${condition}`
  if (row === undefined) return null
  const [first, ...others] = await listLinks(db, row)
  if (first === undefined) throw new Error(`The change ${row.id} has no link.`)
  return {
    ...row,
    record: first.body === null ? null : (JSON.parse(first.body) as ChangeRecord),
    amendments: others.flatMap(({ body, chain }) =>
      body === null ? [] : { ...(JSON.parse(body) as Amendment), chain },
    ),
    chain: first.chain,
  }
}

const LINKS_MAX = 1000

/** The links of a change: its record, then its amendments. */
async function listLinks(db: Db, { org_id, id, provider, repository_id }: ChangeRow) {
  const rows = await db<Pick<Link, 'index' | 'hash' | 'previous_hash' | 'body'>[]>`
    select index, hash, previous_hash, body
    from chain_links
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and change_id = ${id}
    order by index
    limit ${LINKS_MAX}`
  return rows.map((link) => ({ body: link.body, chain: getPosition(link) }))
}

type NewChange = { record: ChangeRecord; link_index: number; recorded_at: Date }

/** Stores a recorded change with its commits. */
export async function insertChange(tx: Tx, landing: Landing, { record, link_index, recorded_at }: NewChange) {
  const { org_id, provider, repository_id } = landing
  await tx`
    insert into changes (
      org_id, id, provider, repository_id, branch, landed_by, pull_request, push_id, merge_sha, link_index, last_index,
      deviations, created_at, recorded_at
    )
    values (
      ${org_id}, ${record.id}, ${provider}, ${repository_id}, ${record.branch}, ${record.landed_by},
      ${landing.pull_request}, ${landing.push_id}, ${record.commits.merge}, ${link_index}, ${link_index},
      ${record.deviations}, ${landing.landed_at}, ${recorded_at}
    )`
  await tx`
    insert into change_commits (org_id, provider, repository_id, sha, change_id)
    select ${org_id}, ${provider}, ${repository_id}, sha, ${record.id}
    from unnest(${getStatedCommits(record)}::text[]) as landed (sha)`
}

/** Notes the newest amendment of a change. */
export async function updateNewestAmendment(
  tx: Tx,
  { org_id, id }: Pick<StoredChange, 'org_id' | 'id'>,
  { last_index, deviations }: { last_index: number; deviations: Deviation[] },
): Promise<void> {
  await tx`
    update changes
    set last_index = ${last_index}, deviations = ${deviations}
    where org_id = ${org_id}
      and id = ${id}`
}
