import { type ChainKey, digestOf, type Link, type Value } from './link.ts'

/** What a link states about its change. The row of the change repeats it. An amendment has only `deviations`. */
export type StatedChange = {
  branch?: string
  landed_by?: string
  pull_request?: number | null
  merge_sha?: string
  created_at?: string
  deviations: string[]
}

/** Replaces the body of a link that retention has removed. */
export type Tombstone = { body_sha256: string; expired_at: string; stated: StatedChange | null }

/** The row of a change, with the change of the link at its `last_index`. */
export type ChangeRow = {
  id: string
  provider: string
  repository_id: string
  branch: string
  landed_by: string
  pull_request: number | null
  merge_sha: string
  link_index: number
  last_index: number
  deviations: string[]
  created_at: string
  last_change_id: string | null
}

/** Null if the stored text is not what was appended. */
export function statedChange({
  kind,
  body,
  tombstone,
}: Pick<Link, 'kind' | 'body' | 'tombstone'>): StatedChange | null {
  try {
    if (body === null) return JSON.parse(tombstone ?? '').stated
    const document = JSON.parse(body)
    return kind === 'record' ? statedByRecord(document) : { deviations: document.facts.deviations }
  } catch {
    return null
  }
}

type RecordBody = {
  branch: string
  landed_by: string
  landed_at: string
  commits: { merge: string }
  pull_request: { number: number } | null
  deviations: string[]
}

function statedByRecord(record: RecordBody): StatedChange {
  const { branch, landed_by, landed_at, commits, pull_request, deviations } = record
  const number = pull_request?.number ?? null
  return { branch, landed_by, pull_request: number, merge_sha: commits.merge, created_at: landed_at, deviations }
}

/**
 * Compares the row of a change with one of its links. Returns null if they match, otherwise the
 * SHA-256 of the columns that do not.
 */
export function mismatchOfChange(chain: ChainKey, { index, kind }: Link, stated: StatedChange | null, row: ChangeRow) {
  const expected: Record<string, unknown> = {
    provider: chain.provider,
    repository_id: chain.repository_id,
    last_change_id: row.id,
    ...(kind === 'record' && { link_index: index, ...recordColumns(stated) }),
    ...(row.last_index === index && { deviations: stated?.deviations }),
    ...(row.last_index < index && { last_index: index }),
  }
  const columns = Object.keys(expected) as (keyof ChangeRow)[]
  const wrong = columns.filter((column) => textOf(column, row[column]) !== textOf(column, expected[column]))
  return wrong.length === 0 ? null : digestOf(...wrong.flatMap((column) => [column, textOf(column, row[column])]))
}

function recordColumns(stated: StatedChange | null) {
  const { branch, landed_by, pull_request, merge_sha, created_at } = stated ?? {}
  return { branch, landed_by, pull_request, merge_sha, created_at }
}

/** Times are compared as times: the database formats them in another way than the record. */
function textOf(column: string, value: unknown): Value {
  return JSON.stringify(column === 'created_at' ? new Date(String(value)) : value) ?? null
}
