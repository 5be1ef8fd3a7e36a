import { type HostClient, isDenied } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import { HOST_ALERT_TYPES, type HostAlert, type HostAlertName } from '../../codehosts/host-alert.ts'
import type { HostEvents, HostSource } from '../../codehosts/host-event.ts'
import { formatHostAlertId } from '../../codehosts/host-ids.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { defineJob, enqueue } from '../../platform/queue/job.ts'
import { definePayload, integer, OneOf, type PayloadOf, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { applyAlert } from './apply-alert.ts'
import { lockAlerts, updateClosedAlert } from './host-alert.store.ts'
import { reconcileAlertsJob } from './reconcile-alerts.job.ts'

const payload = definePayload({
  org_id: text,
  provider: text,
  repository_id: text,
  type: OneOf(...HOST_ALERT_TYPES),
  number: integer,
})

const ATTEMPTS_MAX = 12

/**
 * Reads an alert from its host and applies it. An alert that the host no longer has is fixed. One
 * that may not be read any more stays as it is.
 */
export const readAlertJob = defineJob('security.read-alert', {
  payload,
  attemptsMax: ATTEMPTS_MAX,
  once: ({ org_id, provider, repository_id, type, number }) =>
    `${org_id} ${provider} ${repository_id} ${type} ${number}`,
  run: readAlert,
  updates: () => [update('alert')],
})

/** An alert changed: reads it in a job, because the event lacks some of its fields. */
export async function applyAlertChange(
  _services: Services,
  tx: Tx,
  { org_id }: HostSource,
  { repository, type, number }: HostEvents['alert_change'],
): Promise<void> {
  await enqueue(tx, readAlertJob, { org_id, provider: repository.provider, repository_id: repository.id, type, number })
}

async function readAlert(
  services: Services,
  { org_id, provider, repository_id, ...name }: PayloadOf<typeof payload>,
): Promise<void> {
  const opened = await openRepository(services, { org_id, provider, repository_id })
  if (opened === null) return
  const { client, repository } = opened
  const alert = (await client.readAlert(repository, name)) ?? (await findInList(client, repository, name))
  if (alert === 'unknown') return
  await services.sql.begin(async (tx) => {
    if (alert !== null) return applyAlert(services, tx, { org_id }, alert)
    const named = { org_id, provider, repository_id }
    await lockAlerts(tx, named)
    const id = formatHostAlertId(repository.provider, repository_id, name)
    if (await updateClosedAlert(tx, org_id, id, services.clock.now())) await enqueue(tx, reconcileAlertsJob, named)
  })
}

/**
 * Some servers only list alerts. The list starts with those that changed last. `unknown`: it may
 * not be read.
 */
async function findInList(
  client: HostClient,
  repository: HostRepository,
  { type, number }: HostAlertName,
): Promise<HostAlert | null | 'unknown'> {
  const page = await client.listAlerts(repository, type, {})
  if (page === 'not_modified' || isDenied(page)) return 'unknown'
  return page.items.find((alert) => alert.number === number) ?? null
}
