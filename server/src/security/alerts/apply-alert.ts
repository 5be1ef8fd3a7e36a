import type { HostAlert } from '../../codehosts/host-alert.ts'
import type { HostSource } from '../../codehosts/host-event.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { findById } from '../../repositories/repository-lookup.store.ts'
import type { Services } from '../../services.ts'
import { createContextHasher } from '../issues/grouping/grouping-facts.ts'
import { type AlertRepository, lockAlerts, updateAlertRepositoryNames, upsertAlert } from './host-alert.store.ts'
import { toHostAlertFacts, toHostVersion } from './host-alert-facts.ts'
import { reconcileAlertsJob } from './reconcile-alerts.job.ts'

/**
 * Applies an alert as its host describes it. An older version than the stored one changes nothing.
 */
export async function applyAlert(
  { clock, contextKey }: Pick<Services, 'clock' | 'contextKey'>,
  tx: Tx,
  { org_id }: Pick<HostSource, 'org_id'>,
  alert: HostAlert,
): Promise<void> {
  const facts = toHostAlertFacts(alert, createContextHasher(contextKey))
  const repository: AlertRepository = { org_id, provider: facts.provider, repository_id: facts.repository_id }
  await lockAlerts(tx, repository)
  // The host may have renamed the repository since it stated this version.
  const known = await findById(tx, org_id, facts.provider, facts.repository_id)
  const row = { ...facts, ...toHostVersion(facts), repository: known?.full_name ?? facts.repository }
  if (await upsertAlert(tx, org_id, row, clock.now())) await enqueue(tx, reconcileAlertsJob, repository)
}

/** After a code host renamed a repository: shows its alerts under the new name. */
export async function renameAlertRepository(
  { sql }: Pick<Services, 'sql'>,
  repository: AlertRepository,
): Promise<void> {
  const { org_id, provider, repository_id } = repository
  await sql.begin(async (tx) => {
    await lockAlerts(tx, repository)
    const known = await findById(tx, org_id, provider, repository_id)
    if (known !== null) await updateAlertRepositoryNames(tx, repository, known.full_name)
  })
}
