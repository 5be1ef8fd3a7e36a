import { type ChainKey, digestOf, type Link, type Value } from './link.ts'

/**
 * What a link states about its change. The row of the change repeats it. An amendment has only
 * `deviations`.
 */
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

/** The row of a change, with what the chain has at its `last_index`. */
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
  /** Those of the record and of its amendments. */
  deviations: string[]
  created_at: string
  recorded_at: string
  last_change_id: string | null
  /** The amendments of the change. Only read for the link of the record. */
  amendments: Pick<Link, 'body' | 'tombstone'>[] | null
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
export function mismatchOfChange(chain: ChainKey, link: Link, row: ChangeRow): Buffer | null {
  const expected: Record<string, unknown> = {
    provider: chain.provider,
    repository_id: chain.repository_id,
    last_change_id: row.id,
    ...(link.kind === 'record' ? columnsOfRecord(link, row) : columnsOfAmendment(link, row)),
  }
  const columns = Object.keys(expected) as (keyof ChangeRow)[]
  const wrong = columns.filter((column) => textOf(column, row[column]) !== textOf(column, expected[column]))
  return wrong.length === 0 ? null : digestOf(...wrong.flatMap((column) => [column, textOf(column, row[column])]))
}

function columnsOfRecord(link: Link, { amendments }: ChangeRow) {
  const stated = statedChange(link)
  const { branch, landed_by, pull_request, merge_sha, created_at } = stated ?? {}
  const later = (amendments ?? []).map((amendment) => statedChange({ kind: 'amendment', ...amendment }))
  const deviations = [stated, ...later].flatMap((one) => one?.deviations ?? [])
  const columns = { branch, landed_by, pull_request, merge_sha, created_at, deviations: [...new Set(deviations)] }
  return { ...columns, link_index: link.index, recorded_at: link.at }
}

/** An amendment comes after the record, and adds deviations. */
function columnsOfAmendment(link: Link, row: ChangeRow) {
  const added = statedChange(link)?.deviations ?? []
  const last_index = Math.max(row.last_index, link.index)
  return { last_index, deviations: [...row.deviations, ...added.filter((one) => !row.deviations.includes(one))] }
}

/** The database formats times in another way, and the order of deviations has no meaning. */
function textOf(column: string, value: unknown): Value {
  if (column.endsWith('_at')) return JSON.stringify(new Date(value as string))
  return JSON.stringify(Array.isArray(value) ? value.toSorted() : value) ?? null
}
