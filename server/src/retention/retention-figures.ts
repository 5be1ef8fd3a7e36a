import { listOrganizations } from '../organizations/organization.store.ts'
import { getPlan } from '../organizations/plan.ts'
import type { StateSource } from '../platform/metrics.ts'
import { countExpiredBodies } from '../provenance/chain/link.store.ts'
import type { Services } from '../services.ts'
import { CHANGE_RECORDS, computeExpiry, EXPIRING_SHARED, listDue } from './expiry.ts'
import { findState, listRemoved } from './retention.store.ts'

/** How many rows of each kind retention would remove now, in the whole installation. */
export async function countExpired(services: Services): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const add = (kind: string, count: number) => {
    counts[kind] = (counts[kind] ?? 0) + count
  }
  for (const organization of await listOrganizations(services.sql)) await countExpiredRows(services, organization, add)
  for (const { kind, count } of EXPIRING_SHARED) add(kind, await count(services.sql, services.clock.now()))
  return counts
}

type Subject = { id: string; slug: string; plan: string }

async function countExpiredRows(
  { sql, clock, plans, config }: Services,
  organization: Subject,
  add: (kind: string, count: number) => void,
): Promise<void> {
  const expiry = computeExpiry(organization.id, getPlan(organization, plans), clock.now())
  for (const due of listDue(expiry, config.auditRetentionDays))
    add(due.expiring.kind, await due.expiring.count(sql, due.expiry))
  add(CHANGE_RECORDS, await countExpiredBodies(sql, expiry.org_id, expiry.before))
}

/** What `/metrics` states about retention. The figures are those of the whole installation. */
export const retention: StateSource<Services> = {
  gauges: {
    shiplock_retention_removed_rows: 'Rows that retention has removed since the installation began, by kind.',
    shiplock_retention_last_success_timestamp_seconds: 'When retention last finished. Missing before that.',
    shiplock_retention_duration_seconds: 'How long the last finished run of retention took, with its pauses.',
  },
  async read({ sql }) {
    const [state, kinds] = await Promise.all([findState(sql), listRemoved(sql)])
    const finishedAt = state?.finished_at
    return {
      shiplock_retention_removed_rows: kinds.map(({ kind, removed: value }) => ({ labels: { kind }, value })),
      shiplock_retention_last_success_timestamp_seconds: finishedAt ? [{ value: finishedAt.getTime() / 1000 }] : [],
      shiplock_retention_duration_seconds: typeof state?.seconds === 'number' ? [{ value: state.seconds }] : [],
    }
  },
}
