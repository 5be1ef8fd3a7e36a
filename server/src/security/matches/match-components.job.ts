import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import { listKnownNames, listScopes } from '../../inventory/matches/match-scope.store.ts'
import {
  findInventoryMatching,
  type InventoryMatching,
  lockInventoryMatching,
  updateInventoryMatching,
} from '../../organizations/organization.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { runStoppable } from '../../platform/db/transaction.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { defineJob, defineScheduledJob, enqueue } from '../../platform/queue/job.ts'
import { definePayload, integer, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { findReportedName } from '../repositories/reported-repository.store.ts'
import { countMatches } from './match.store.ts'
import {
  findMatchingProgress,
  findNextBatch,
  insertMatchingProgress,
  listChangedNames,
  listUnmatchedOrganizations,
  type MatchingProgress,
  updateMatchingDue,
  updateMatchingProgress,
} from './match-progress.store.ts'
import { reconcileMatches } from './reconcile-matches.ts'

const ATTEMPTS_MAX = 10

/**
 * Brings the findings of an organization in line with what imports and its setting changed. Stops
 * after a while and queues itself again, so that organizations take turns.
 */
export const matchComponentsJob = defineJob('security.match-components', {
  class: 'bulk',
  payload: definePayload({ org_id: text }),
  attemptsMax: ATTEMPTS_MAX,
  once: ({ org_id }) => org_id,
  run: matchOrganization,
})

/** After an import, and every minute for what an interrupted run has left. */
export async function enqueueMatching({ sql }: Services): Promise<void> {
  for (const org_id of await listUnmatchedOrganizations(sql)) await enqueue(sql, matchComponentsJob, { org_id })
}

export const enqueueMatchingRegularly = defineScheduledJob<Services>('security.enqueue-matching', {
  class: 'bulk',
  schedule: '* * * * *',
  run: enqueueMatching,
})

/** Scopes that are matched before other organizations have their turn. */
const SCOPES_MAX = 1000
const SCOPES_AT_ONCE = 100

async function matchOrganization(
  services: Services,
  { org_id: orgId }: { org_id: string },
  stopping?: AbortSignal,
): Promise<void> {
  const { sql } = services
  let scopes = 0
  while (scopes < SCOPES_MAX) {
    const progress = await findMatchingProgress(sql, orgId)
    if (progress === null) return
    const matched = await (progress.is_due ? matchDue : followChanges)(services, orgId, { progress, stopping })
    if (matched === null) return
    scopes += matched
  }
  await enqueue(sql, matchComponentsJob, { org_id: orgId })
}

type Batch = { progress: MatchingProgress; stopping: AbortSignal | undefined }

/**
 * Matches the next scopes after the setting changed, or an upgrade. Returns their number. One event
 * tells of all of them.
 */
async function matchDue(services: Services, orgId: string, { progress, stopping }: Batch): Promise<number> {
  const { sql } = services
  const scopes = await listScopes(sql, orgId, null, { after: progress.scope_after, limit: SCOPES_AT_ONCE })
  for (const scope of scopes)
    await runStoppable(sql, stopping, async (tx) => void (await reconcileMatches(services, tx, scope, [])))
  const last = scopes.at(-1)
  if (last !== undefined) await updateMatchingProgress(sql, orgId, progress, { ...progress, scope_after: last.id })
  else await sql.begin((tx) => endDue(tx, orgId, progress))
  return scopes.length
}

/**
 * The setting does not change until the transaction ends, and no document is read by an earlier
 * one.
 */
async function endDue(tx: Tx, orgId: string, { scope_after: after }: MatchingProgress): Promise<void> {
  await lockInventoryMatching(tx, orgId)
  const progress = await findMatchingProgress(tx, orgId)
  const others = await listScopes(tx, orgId, null, { after, limit: 1 })
  if (progress === null || progress.scope_after !== after || others.length > 0) return
  await updateMatchingDue(tx, orgId, false)
  await publish(tx, matchingFollowed, { org_id: orgId, ...(await countMatches(tx, orgId)) })
}

/** Follows the next changes of packages. Returns the number of scopes; null if nothing is left. */
async function followChanges(services: Services, orgId: string, { progress, stopping }: Batch): Promise<number | null> {
  const { sql } = services
  const { followed_until, scope_after: after } = progress
  const until = progress.batch_until ?? (await findNextBatch(sql, followed_until))
  if (until === null) return null
  const changed = await listChangedNames(sql, { after: followed_until, until })
  const names = await listKnownNames(sql, orgId, changed)
  const scopes = names.length === 0 ? [] : await listScopes(sql, orgId, names, { after, limit: SCOPES_AT_ONCE })
  for (const scope of scopes)
    await runStoppable(sql, stopping, async (tx) => {
      if ((await reconcileMatches(services, tx, scope, names)) === null) return
      const repository = await findReportedName(tx, orgId, scope.repository_no)
      if (repository !== null) await publish(tx, matchesChanged, { org_id: orgId, repository })
    })
  const last = scopes.length < SCOPES_AT_ONCE ? undefined : scopes.at(-1)
  const next =
    last === undefined
      ? { followed_until: until, batch_until: null, scope_after: 0 }
      : { followed_until, batch_until: until, scope_after: last.id }
  await updateMatchingProgress(sql, orgId, progress, next)
  return scopes.length
}

/**
 * Published when an import changed findings of the inventory. `repository` is the name of the
 * repository as `owner/name`.
 */
export const matchesChanged = defineEvent('security.matches.changed', {
  class: 'bulk',
  payload: definePayload({ org_id: text, repository: text }),
  subject: ({ repository }) => ({ type: 'finding', id: null, repository }),
  updates: () => [update('finding'), update('issue')],
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
})

/**
 * Published when all components of an organization were matched after an upgrade, or as its setting
 * says. `findings` are open, in so many `repositories`.
 */
export const matchingFollowed = defineEvent('security.matching.followed', {
  class: 'bulk',
  payload: definePayload({ org_id: text, findings: integer, repositories: integer }),
  subject: ({ org_id }) => ({ type: 'organization', id: org_id }),
  updates: () => [update('finding'), update('issue')],
})

/**
 * States whether components are matched with advisories (docs/inventory.md, "Matches"). A job opens
 * or ends the findings; what was decided about them stays.
 */
export async function assignInventoryMatching(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  author: Author,
  matching: InventoryMatching,
): Promise<void> {
  await sql.begin(async (tx) => {
    const before = await findInventoryMatching(tx, orgId)
    if (before === matching) return
    await updateInventoryMatching(tx, orgId, matching)
    await insertMatchingProgress(tx, orgId)
    await updateMatchingDue(tx, orgId, true)
    const object = { type: 'organization', id: orgId }
    const details = { inventory_matching: matching, before }
    await insertAuditEntry(tx, orgId, { ...author, action: 'organization.update', object, details }, clock.now())
    await enqueue(tx, matchComponentsJob, { org_id: orgId })
  })
}
