import { expiringLinks } from '../access/links/link.store.ts'
import { expiringAuditEntries } from '../audit/audit.store.ts'
import { buildExpiringRuns } from '../ci/pipeline-runs/expired-run.store.ts'
import { expiringCalls } from '../codehosts/connections/call.store.ts'
import { expiringDeliveries } from '../codehosts/deliveries/expired-delivery.store.ts'
import { followExpiringRuns } from '../deployments/decisions/follow-evidence.ts'
import {
  buildHasKeptDeployment,
  expiringDeploymentRuns,
  expiringDeployments,
  expiringGateRequests,
  expiringReviews,
} from '../deployments/expired-deployment.store.ts'
import { buildLiveDeployments } from '../deployments/live-deployment.store.ts'
import { buildExpiringSboms } from '../inventory/sboms/sbom.store.ts'
import { computeRetentionStart, type Plan } from '../organizations/plan.ts'
import { DAY_MS, getUtcDayStart } from '../platform/clock.ts'
import type { Expiring, ExpiringShared, Expiry } from '../platform/db/expiring-rows.ts'
import { EVENTS_KEPT_MS, expiringEvents } from '../platform/queue/event.ts'
import { expiringFacts } from '../provenance/changes/landing.store.ts'
import { AMENDED_FOR_MS } from '../provenance/changes/late-facts.ts'
import { expiringStatements } from '../provenance/statements/statement.store.ts'
import { expiringAlerts } from '../security/alerts/alert.store.ts'
import { expiringBranches, expiringFindings } from '../security/findings/expired-finding.store.ts'
import { expiringIssues } from '../security/issues/issue.store.ts'
import { expiringRegroups } from '../security/issues/regroup-run.store.ts'
import { expiringTriages } from '../security/triage/triage-list.store.ts'
import { buildExpiringUploads } from '../security/uploads/expired-upload.store.ts'
import { expiringDays } from '../trends/counted-days.store.ts'

/** What retention removes, in this order: what refers to something is removed before it. */
const EXPIRING: readonly Expiring[] = [
  expiringDeployments,
  expiringDeploymentRuns,
  expiringGateRequests,
  expiringReviews,
  buildExpiringRuns(buildHasKeptDeployment, followExpiringRuns),
  ...expiringBranches,
  ...buildExpiringUploads(buildLiveDeployments),
  buildExpiringSboms(buildLiveDeployments),
  expiringAlerts,
  expiringFindings,
  expiringTriages,
  ...expiringRegroups,
  expiringIssues,
  expiringCalls,
  expiringStatements,
  ...expiringDays,
]

/** What belongs to no organization. */
export const EXPIRING_SHARED: readonly ExpiringShared[] = [...expiringDeliveries, expiringLinks]

/** The kind of the bodies of change records, which leave a tombstone. */
export const CHANGE_RECORDS = 'change_records'

/**
 * What of an organization has expired. The time is the start of a UTC day, so that the first day
 * within the retention is complete and its figures do not change.
 */
export function computeExpiry(org_id: string, plan: Plan, now: Date): Expiry {
  return { org_id, before: getUtcDayStart(computeRetentionStart(plan, now)), at: now }
}

/** A kind of rows with the time by which it has expired. */
export type Due = { expiring: Expiring; expiry: Expiry }

/**
 * Everything that retention removes of an organization, except for the bodies of change records.
 */
export function listDue(expiry: Expiry, auditRetentionDays: number): Due[] {
  // Change records are amended by what is stored of code hosts, which must not be gone before.
  const facts = notAfter(expiry, new Date(expiry.at.getTime() - AMENDED_FOR_MS))
  const audit = computeAuditExpiry(expiry, auditRetentionDays)
  const events = { ...expiry, before: new Date(expiry.at.getTime() - EVENTS_KEPT_MS) }
  return [
    ...EXPIRING.map((expiring) => ({ expiring, expiry })),
    ...expiringFacts.map((expiring) => ({ expiring, expiry: facts })),
    { expiring: expiringEvents, expiry: events },
    ...(audit === null ? [] : [{ expiring: expiringAuditEntries, expiry: audit }]),
  ]
}

/**
 * Which audit entries have expired; null if they are kept without end. They are never removed
 * before what they are about.
 */
export function computeAuditExpiry(expiry: Expiry, auditRetentionDays: number): Expiry | null {
  if (auditRetentionDays === 0) return null
  return notAfter(expiry, new Date(expiry.at.getTime() - auditRetentionDays * DAY_MS))
}

/** The same expiry, or an earlier one. */
function notAfter(expiry: Expiry, time: Date): Expiry {
  const since = getUtcDayStart(time)
  return { ...expiry, before: since < expiry.before ? since : expiry.before }
}
