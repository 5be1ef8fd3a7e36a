import { listOrganizations } from '../organizations/organization.store.ts'
import { getPlan } from '../organizations/plan.ts'
import { countExpiredBodies } from '../provenance/chain/link.store.ts'
import type { Services } from '../services.ts'
import { CHANGE_RECORDS, computeExpiry, EXPIRING_SHARED, listDue } from './expiry.ts'

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
