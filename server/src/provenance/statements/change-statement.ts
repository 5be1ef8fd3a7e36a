import type { Actor } from '../../access/actor.ts'
import { retainedSince } from '../../organizations/plan.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type ChainState, readChainState, verifyLink } from '../chain/read-chain-state.ts'
import { findChange, type StoredChange } from '../changes/change.store.ts'
import type { ChangeRecord } from '../changes/change-record.ts'
import { findIssuedChange } from './change-statement.store.ts'
import type { StatementContent, Subject } from './in-toto-statement.ts'
import { fingerprintOf, issueStatement } from './issue-statement.ts'
import { findNewestStatement, findStatement, type StatementName, type StoredStatement } from './statement.store.ts'
import { requireStatements, unavailable } from './statement-errors.ts'

export const CHANGE_RECORD = 'https://shiplock.dev/change-record/v1'

type Breaks = ChainState['breaks']

/**
 * Returns the statement of a change (provenance.md §3). `id` is the id of a change, or of a pull
 * request. Throws 404 `not_found`, 402 `plan_required` or 409 `statement_unavailable`.
 */
export async function issueChangeStatement(services: Services, actor: Actor, id: string): Promise<StoredStatement> {
  const issued = await findCurrent(services, actor, id)
  if (issued !== null) return issued
  const change = await requireChangeOf(services, actor, id)
  requireStatements(actor, services)
  requireRetained(services, actor, change.landed_at)
  return issueOnce(services, change)
}

/** Returns the statement that was issued last if its facts still hold, which takes one query. */
async function findCurrent(services: Services, actor: Actor, id: string): Promise<StoredStatement | null> {
  const change = await findIssuedChange(services.sql, actor.org_id, id)
  if (change === null) return null
  requireStatements(actor, services)
  requireRetained(services, actor, change.landed_at)
  if (change.statement === null || change.record === null || change.last === null) return null
  const { facts, ...statement } = change.statement
  const breaks = await acknowledgedBreaks(services, { org_id: actor.org_id, ...change })
  return facts.equals(fingerprintOf({ record: change.record, last: change.last, breaks })) ? statement : null
}

/** A reason why a pull request has no change yet is only reported to plans with statements (§4). */
async function requireChangeOf(services: Services, actor: Actor, id: string): Promise<StoredChange> {
  try {
    const change = await findChange(services.sql, actor.org_id, id)
    if (change === null) throw notFound('change')
    return change
  } catch (error) {
    if (error instanceof ApiError && 'reason' in error.details) requireStatements(actor, services)
    throw error
  }
}

function requireRetained({ clock }: Services, { plan }: Actor, landedAt: Date): void {
  if (landedAt >= retainedSince(plan, clock.now())) return
  const message = `The change landed more than ${plan.retention_days} days ago, which is the data retention of the plan.`
  throw unavailable('RECORD_EXPIRED', message)
}

async function issueOnce(services: Services, change: StoredChange): Promise<StoredStatement> {
  const name: StatementName = { org_id: change.org_id, kind: 'change', subject_id: change.id }
  const breaks = await acknowledgedBreaks(services, change)
  const facts = factsOf(change, breaks)
  const stored = await findStatement(services.sql, name, fingerprintOf(facts))
  if (stored !== null) return stored
  if (await isBroken(services, change)) return issuedBefore(services, name)
  const { record } = change
  if (record === null) throw unavailable('RECORD_EXPIRED', 'The record of the change was removed by data retention.')
  return issueStatement(services, name, facts, () => contentOf({ ...change, record }, breaks))
}

/**
 * The hash of the last link covers all links before it, so two hashes identify record and
 * amendments.
 */
function factsOf({ chain, amendments }: StoredChange, breaks: Breaks) {
  return { record: chain.hash, last: amendments.at(-1)?.chain.hash ?? chain.hash, breaks }
}

async function acknowledgedBreaks(services: Services, change: Parameters<typeof readChainState>[1]): Promise<Breaks> {
  const { breaks } = await readChainState(services, change)
  return breaks.filter(({ acknowledged_at }) => acknowledged_at !== null)
}

/** Verifies every link that the statement contains. */
async function isBroken(services: Services, change: StoredChange): Promise<boolean> {
  for (const { chain } of [change, ...change.amendments]) {
    const { state } = await verifyLink(services, change, chain.index)
    if (state === 'broken') return true
  }
  return false
}

/** Over a broken chain nothing new is issued, but what was issued before stays available (§1). */
export async function issuedBefore({ sql }: Services, name: StatementName): Promise<StoredStatement> {
  const statement = await findNewestStatement(sql, name)
  if (statement !== null) return statement
  const message =
    'The chain of records of the repository does not verify. An administrator has to record what happened.'
  throw unavailable('CHAIN_BROKEN', message)
}

function contentOf(change: StoredChange & { record: ChangeRecord }, breaks: Breaks): StatementContent {
  const { record, amendments, chain } = change
  return {
    subject: [commitSubject(record.repository, record.commits.merge)],
    predicateType: CHANGE_RECORD,
    predicate: { record, amendments, chain, ...(breaks.length > 0 && { breaks }) },
  }
}

/**
 * A commit of a repository. `gitCommit` is its SHA-1 or SHA-256 (in-toto Attestation, "DigestSet").
 */
export function commitSubject({ host, full_name }: { host: string; full_name: string }, sha: string): Subject {
  return { name: `git+https://${host}/${full_name}`, digest: { gitCommit: sha } }
}
