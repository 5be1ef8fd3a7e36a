import { createHash } from 'node:crypto'
import { hashValues, type RowValue } from '../../platform/crypto/signed-bytes.ts'
import type { ChainKey, Link } from './link.ts'

/**
 * What a link states about its change. The rows of the change repeat it. An amendment has only
 * `deviations`.
 */
type StatedChange = {
  branch?: string
  landed_by?: string
  pull_request?: number | null
  merge_sha?: string
  created_at?: string
  /** SHA-256 of the lines `<provider> <repository id> <SHA>` of the commits, in their order. */
  commits_sha256?: string
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
  /** As in `StatedChange`. Only read for the link of the record. */
  commits_sha256: string | null
  /** The amendments of the change. Only read for the link of the record. */
  amendments: Pick<Link, 'body' | 'tombstone'>[] | null
}

/** Null if the stored text is not what was appended. */
export function parseStatedChange({
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

/** What a record states about its commits. */
type StatedCommits = { commits: { head: string; merge: string; list: { sha: string }[] }; forced: boolean }

/** The commits that find the change of a record. A push that only removed commits has none. */
export function getStatedCommits({ commits, forced }: StatedCommits): string[] {
  const listed = commits.list.map(({ sha }) => sha)
  return [...new Set(forced && listed.length === 0 ? [] : [...listed, commits.head, commits.merge])]
}

type RecordBody = StatedCommits & {
  repository: { provider: string; id: string }
  branch: string
  landed_by: string
  landed_at: string
  pull_request: { number: number } | null
  deviations: string[]
}

function statedByRecord(record: RecordBody): StatedChange {
  const { repository, branch, landed_by, landed_at, commits, pull_request, deviations } = record
  const lines = getStatedCommits(record).map((sha) => `${repository.provider} ${repository.id} ${sha}`)
  return {
    branch,
    landed_by,
    pull_request: pull_request?.number ?? null,
    merge_sha: commits.merge,
    created_at: landed_at,
    commits_sha256: createHash('sha256').update(lines.toSorted().join('\n')).digest('hex'),
    deviations,
  }
}

/**
 * Compares the rows of a change with one of its links. Returns null if they match, otherwise the
 * SHA-256 of the columns that do not.
 */
export function compareChange(chain: ChainKey, link: Link, row: ChangeRow): Buffer | null {
  const expected: Record<string, unknown> = {
    provider: chain.provider,
    repository_id: chain.repository_id,
    last_change_id: row.id,
    ...(link.kind === 'record' ? columnsOfRecord(link, row) : columnsOfAmendment(link, row)),
  }
  const columns = Object.keys(expected) as (keyof ChangeRow)[]
  const wrong = columns.filter((column) => toText(column, row[column]) !== toText(column, expected[column]))
  return wrong.length === 0 ? null : hashValues(...wrong.flatMap((column) => [column, toText(column, row[column])]))
}

function columnsOfRecord(link: Link, { amendments }: ChangeRow) {
  const stated = parseStatedChange(link)
  const { branch, landed_by, pull_request, merge_sha, created_at, commits_sha256 } = stated ?? {}
  const later = (amendments ?? []).map((amendment) => parseStatedChange({ kind: 'amendment', ...amendment }))
  const deviations = [stated, ...later].flatMap((one) => one?.deviations ?? [])
  const own = { branch, landed_by, pull_request, merge_sha, created_at, commits_sha256 }
  const columns = { ...own, deviations: [...new Set(deviations)] }
  return { ...columns, link_index: link.index, recorded_at: link.at }
}

/** An amendment comes after the record, and adds deviations. */
function columnsOfAmendment(link: Link, row: ChangeRow) {
  const added = parseStatedChange(link)?.deviations ?? []
  const last_index = Math.max(row.last_index, link.index)
  return { last_index, deviations: [...row.deviations, ...added.filter((one) => !row.deviations.includes(one))] }
}

/** The database formats times in another way, and the order of deviations has no meaning. */
function toText(column: string, value: unknown): RowValue {
  if (column.endsWith('_at')) return JSON.stringify(new Date(value as string))
  return JSON.stringify(Array.isArray(value) ? value.toSorted() : value) ?? null
}
