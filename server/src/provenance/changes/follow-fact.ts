import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { appendLink } from '../chain/append-link.ts'
import { type Landing, lockLanding, updateLandingDue } from '../landings/landing.store.ts'
import { computeFirstDue } from '../landings/landing-schedule.ts'
import { recordChangesJob } from '../landings/landings.job.ts'
import { findChange, type StoredChange, updateNewestAmendment } from './change.store.ts'
import type { Amendment } from './change-record.ts'
import { describeResults } from './describe-change.ts'
import { AMENDED_FOR_MS, collectLateFacts, type LateFact } from './late-facts.ts'
import { readResults } from './record-landing.ts'

const AMENDMENTS_MAX = 500

/**
 * Follows a review, check or run of a landing. The landing is locked: a record that is being
 * written either contains the fact, or is amended.
 */
export async function followFact(
  services: Services,
  { org_id, landing_id: id }: { org_id?: string; landing_id: number },
): Promise<void> {
  await services.sql.begin(async (tx) => {
    const landing = await lockLanding(tx, { ...(org_id !== undefined && { org_id }), id })
    if (landing.state === 'waiting') await wake(services, tx, landing)
    if (landing.state === 'recorded') await amend(services, tx, landing)
  })
}

/** The record may be due. A landing whose host does not answer keeps its pause. */
async function wake({ clock }: Services, tx: Tx, landing: Landing): Promise<void> {
  if (landing.tries > 0) return
  const due_at = new Date(Math.max(clock.now().getTime(), computeFirstDue(landing).getTime()))
  // Also if it is due already: a pass that has read the landing must not postpone it.
  await updateLandingDue(tx, landing, { ...landing, due_at })
  const { org_id, provider, repository_id } = landing
  await enqueue(tx, recordChangesJob, { org_id, provider, repository_id })
}

async function amend(services: Services, tx: Tx, landing: Landing): Promise<void> {
  const now = services.clock.now()
  if (now.getTime() > landing.landed_at.getTime() + AMENDED_FOR_MS) return
  const change = await findChange(tx, landing.org_id, landing.change_id as string)
  if (change?.record == null) return
  const { record, amendments } = change
  const results = await readResults(tx, landing, change.merge_sha)
  const found = collectLateFacts(record, amendments, describeResults(results, landing, record.branch_rules))
  await appendAmendments(services, tx, change, found.slice(0, AMENDMENTS_MAX - amendments.length))
}

async function appendAmendments(services: Services, tx: Tx, change: StoredChange, facts: LateFact[]): Promise<void> {
  const now = services.clock.now()
  let { last_index } = change
  for (const fact of facts) {
    const body: Amendment = { change: change.id, at: now.toISOString(), ...fact }
    const link = { kind: 'amendment' as const, change_id: change.id, body, at: now }
    last_index = (await appendLink(services, tx, change, link)).index
  }
  const newest = facts.at(-1)
  if (newest) await updateNewestAmendment(tx, change, { last_index, deviations: newest.facts.deviations })
}
