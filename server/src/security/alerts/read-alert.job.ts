import { type HostClient, isDenied } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import { formatHostAlertId, HOST_ALERT_TYPES, type HostAlert, type HostAlertName } from '../../codehosts/host-alert.ts'
import type { HostEvents, HostSource } from '../../codehosts/host-event.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import { findHostDismissals } from '../../organizations/organization.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { defineJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, integer, OneOf, type PayloadOf, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import { findById } from '../../repositories/repository.store.ts'
import type { Services } from '../../services.ts'
import { createContextHasher } from '../issues/grouping/grouping-facts.ts'
import {
  type AlertRepository,
  findAlertStatus,
  lockAlerts,
  updateAlertRepositoryNames,
  updateClosedAlert,
  updateToProposed,
  updateToUnproposed,
  upsertAlert,
} from './host-alert.store.ts'
import { toHostAlertFacts, toHostVersion } from './host-alert-facts.ts'
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
  waitsFor: ({ provider }) => formatLoneParty(provider),
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
  const read_at = services.clock.now()
  const alert = (await client.readAlert(repository, name)) ?? (await findInList(client, repository, name))
  if (alert === 'unknown') return
  await services.sql.begin(async (tx) => {
    const learned = { by: 'read', at: read_at } as const
    if (alert !== null) return applyAlert(services, tx, { org_id, learned }, alert)
    const named = { org_id, provider, repository_id }
    await lockAlerts(tx, named)
    const id = formatHostAlertId(repository.provider, repository_id, name)
    if (await updateClosedAlert(tx, org_id, id, read_at)) await enqueue(tx, reconcileAlertsJob, named)
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

/**
 * Applies an alert as its host describes it. An older version than the stored one changes nothing.
 */
export async function applyAlert(
  { clock, contextKey }: Pick<Services, 'clock' | 'contextKey'>,
  tx: Tx,
  { org_id, learned }: Pick<HostSource, 'org_id' | 'learned'>,
  alert: HostAlert,
): Promise<void> {
  const facts = toHostAlertFacts(alert, createContextHasher(contextKey))
  const repository: AlertRepository = { org_id, provider: facts.provider, repository_id: facts.repository_id }
  await lockAlerts(tx, repository)
  // The host may have renamed the repository since it stated this version.
  const known = await findById(tx, org_id, facts.provider, facts.repository_id)
  const host_read_at = learned?.at ?? null
  const row = { ...facts, ...toHostVersion(facts), host_read_at, repository: known?.full_name ?? facts.repository }
  const before = await findAlertStatus(tx, org_id, facts.id)
  if (!(await upsertAlert(tx, org_id, row, clock.now()))) return
  // What was dismissed before stays so: only a dismissal that arrives now can be a proposal.
  if (facts.host_status !== 'dismissed') await updateToUnproposed(tx, org_id, facts.id)
  else if (before !== 'dismissed' && (await findHostDismissals(tx, org_id)) === 'propose')
    await updateToProposed(tx, org_id, facts.id)
  await enqueue(tx, reconcileAlertsJob, repository)
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
