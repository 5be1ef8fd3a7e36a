import type { Actor } from '../../access/actor.ts'
import { createNoStatementError } from '../../errors/provenance.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import type { LinkRow } from '../chain/link.store.ts'
import type { ChainKey } from '../chain/link.ts'
import { type ChainState, readChainState, verifyLinks } from '../chain/read-chain-state.ts'
import { parsePullRequestId, requireChange } from '../changes/require-change.ts'
import { requireAuthentic } from './authentic-statement.ts'
import { computeFingerprint, findIssued, issueStatement, requireStatements } from './issue-statement.ts'
import { findIssuedChange, findNewestStatement, type IssuedChange, type StatementName } from './statement.store.ts'
import {
  type Breaks,
  type RecordedChange,
  readRecordedChange,
  type StoredStatement,
  toChangeContent,
} from './statement-content.ts'

/**
 * Returns the statement of a change (provenance.md §3). `id` is the id of a change or of its pull
 * request. Throws 404 `not_found`, 402 `plan_required` or 409 `statement_unavailable`.
 *
 * A statement that was issued before takes one query.
 */
export async function issueChangeStatement(services: Services, actor: Actor, id: string): Promise<StoredStatement> {
  const change = await requireRecorded(services, actor, id)
  requireStatements(actor, services)
  requireRetainedChange(services, actor, change)
  return (await findCurrent(services, change)) ?? (await issueVerified(services, change))
}

/** A reason why a pull request has no change is only reported on a plan with statements (§4). */
async function requireRecorded(services: Services, actor: Actor, id: string): Promise<IssuedChange> {
  const { sql } = services
  const change = await findIssuedChange(sql, actor.org_id, parsePullRequestId(id) ?? id)
  if (change !== null) return change
  const recorded = await requireChange(services, actor.org_id, id).catch((error: unknown) => {
    if (error instanceof ApiError && 'reason' in error.details) requireStatements(actor, services)
    throw error
  })
  // It was recorded between the two queries.
  return (await findIssuedChange(sql, actor.org_id, recorded.id)) ?? Promise.reject(createNotFoundError('change'))
}

/** Throws 409 `RECORD_EXPIRED`. */
export function requireRetainedChange(
  { clock }: Services,
  { plan }: Actor,
  { landed_at }: Pick<IssuedChange, 'landed_at'>,
): void {
  if (landed_at >= computeRetentionStart(plan, clock.now())) return
  const message = `The change landed more than ${plan.retention_days} days ago, which is the data retention of the plan.`
  throw createNoStatementError('RECORD_EXPIRED', message)
}

/**
 * The statement with the present facts, if it was issued. It is mostly the one that was issued
 * last.
 */
async function findCurrent(services: Services, change: IssuedChange): Promise<StoredStatement | null> {
  const { hashes, statement } = change
  if (hashes === null || statement === null) return null
  const name = toStatementName(change)
  const breaks = change.has_breaks ? (await readChainState(services, change)).breaks : []
  const present = computeFingerprint(getChangeFacts(hashes, breaks))
  return statement.facts.equals(present)
    ? requireAuthentic(services, name, statement)
    : findIssued(services, name, [present])
}

type Hashes = { record: string; last: string }

/**
 * The hash of a link covers all links before, so two hashes determine the record and its
 * amendments.
 */
export function getChangeFacts({ record, last }: Hashes, breaks: Breaks): object {
  return { record, last, breaks: breaks.filter(({ acknowledged_at }) => acknowledged_at !== null) }
}

export function getHashes({ chain, amendments }: RecordedChange): Hashes {
  return { record: chain.hash, last: amendments.at(-1)?.chain.hash ?? chain.hash }
}

function toStatementName({ org_id, id }: IssuedChange): StatementName {
  return { org_id, kind: 'change', subject_id: id }
}

/** States what was verified, so that a change of the database in the meantime is not signed. */
async function issueVerified(services: Services, change: IssuedChange): Promise<StoredStatement> {
  const { state, links, breaks } = await verifyChange(services, change)
  if (state === 'broken') return requireIssuedStatement(services, toStatementName(change))
  if (links.some(({ tombstone }) => tombstone !== null))
    throw createNoStatementError('RECORD_EXPIRED', 'The record of the change was removed by data retention.')
  const stated = readRecordedChange(links)
  if (stated === null) return requireIssuedStatement(services, toStatementName(change))
  const facts = getChangeFacts(getHashes(stated), breaks)
  return issueStatement(services, toStatementName(change), facts, () => toChangeContent(stated, breaks))
}

/** Over a broken chain nothing new is issued, but what was issued before stays available (§1). */
export async function requireIssuedStatement(services: Services, name: StatementName): Promise<StoredStatement> {
  const statement = await findNewestStatement(services.sql, name)
  if (statement !== null) return requireAuthentic(services, name, statement)
  const message =
    'The chain of change records of the repository does not verify. An administrator can examine it with "provenance verify".'
  throw createNoStatementError('CHAIN_BROKEN', message)
}

/** A change and the indexes of its first and its last link. */
type LinkedChange = ChainKey & { id: string; chain: { index: number }; last_index: number }

/** The links are those of the change, in their order. They verify unless `state` is `broken`. */
type VerifiedChange = ChainState & { links: LinkRow[] }

/**
 * Verifies the chain from the record of a change to its last amendment, so that a missing amendment
 * is found, too. The cost does not depend on the length of the chain.
 */
export async function verifyChange(services: Services, change: LinkedChange): Promise<VerifiedChange> {
  const links: LinkRow[] = []
  let at = change.chain.index
  while (true) {
    const part = await verifyLinks(services, change, at, change.last_index)
    links.push(...part.links.filter(({ change_id }) => change_id === change.id))
    at = part.next
    // There are no links after the end of the chain.
    const isEnd = at > change.last_index || part.links.length === 0
    if (isEnd || part.state.state === 'broken') return { ...part.state, links }
  }
}
