import type { Tx } from '../platform/db/sql.ts'
import { publishUpdates, update } from '../platform/queue/update.ts'
import { updateLivePlace } from './deployment-state.store.ts'
import type { DeploymentKey } from './deployment-state.ts'
import { deleteLiveUnit, findLiveFacts, lockLiveUnit, updateLiveUnit } from './live-deployment.store.ts'
import { formatLiveUnit, type LivePlace } from './live-unit.ts'

/**
 * Finds anew what runs where a locked deployment does, and where it was stored before. The answer
 * depends on what is stored of deployments alone: not on the order in which they succeeded, and not
 * on the order in which that became known. Calls for one unit wait for each other.
 *
 * Whoever calls it has locked the deployment. The unit is locked after it and is the last lock, so
 * that two callers do not wait for each other.
 */
export async function refreshLive(tx: Tx, key: DeploymentKey): Promise<void> {
  const facts = await findLiveFacts(tx, key)
  if (facts === null || facts.live_at === null) return
  const { lane, live_unit, live_lane, live_at } = facts
  const place = { unit: formatLiveUnit(facts), lane }
  const before = live_unit === null || live_lane === null ? [] : [{ unit: live_unit, lane: live_lane }]
  const places = new Map([...before, place].map((each) => [`${each.unit} ${each.lane}`, each]))
  await updateLivePlace(tx, key, place)
  for (const [, each] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) await refreshUnit(tx, key.org_id, each)
  if (facts.linked === null) return
  // The unit from before the repository was connected goes on in this one.
  const unlinked = { unit: formatLiveUnit({ ...facts, linked: null }), lane }
  await deleteLiveUnit(tx, key.org_id, unlinked, live_at)
}

async function refreshUnit(tx: Tx, orgId: string, place: LivePlace): Promise<void> {
  const before = await lockLiveUnit(tx, orgId, place)
  const after = await updateLiveUnit(tx, orgId, place)
  if (after === null) await deleteLiveUnit(tx, orgId, place, null)
  const ids = new Set([before, after].filter((id) => id !== null))
  await publishUpdates(
    tx,
    orgId,
    [...ids].map((id) => update('deployment', id)),
  )
}
