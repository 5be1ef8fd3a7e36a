import { expiringAuditEntries } from '../audit/expired-audit.store.ts'
import { expiringRuns } from '../ci/pipeline-runs/expiring-runs.ts'
import { expiringCalls } from '../codehosts/calls/expired-call.store.ts'
import {
  expiringDeploymentRuns,
  expiringDeployments,
  expiringGateRequests,
} from '../deployments/expired-deployment.store.ts'
import type { Plan } from '../organizations/plan.ts'
import { retainedSince } from '../organizations/plan.ts'
import { DAY_MS, utcDayStart } from '../platform/clock.ts'
import type { Expiring, Expiry } from '../platform/db/expiring-rows.ts'
import { expiringStatements } from '../provenance/statements/expired-statement.store.ts'
import { expiringAlerts } from '../security/alerts/expired-alert.store.ts'
import { expiringFindings } from '../security/findings/expired-finding.store.ts'
import { expiringIssues } from '../security/issues/expired-issue.store.ts'
import { expiringTriages } from '../security/triage/expired-triage.store.ts'
import { expiringUploads } from '../security/uploads/expired-upload.store.ts'
import { expiringDays } from '../trends/expired-days.store.ts'

/** What retention removes, in this order: what refers to something is removed before it. */
export const EXPIRING: readonly Expiring[] = [
  expiringDeployments,
  expiringDeploymentRuns,
  expiringGateRequests,
  expiringRuns,
  ...expiringUploads,
  expiringAlerts,
  expiringFindings,
  expiringTriages,
  expiringIssues,
  expiringCalls,
  expiringStatements,
  ...expiringDays,
]

/** What has a retention of its own. */
export const EXPIRING_AUDIT: readonly Expiring[] = [expiringAuditEntries]

/** The kind of the bodies of change records, which leave a tombstone. */
export const CHANGE_RECORDS = 'change_records'

/**
 * What of an organization has expired. The time is the start of a UTC day, so that the first day
 * within the retention is complete and its figures do not change.
 */
export function expiryOf(org_id: string, plan: Plan, now: Date): Expiry {
  return { org_id, before: utcDayStart(retainedSince(plan, now)), at: now }
}

/**
 * Which audit entries have expired; null if they are kept without end. They are never removed
 * before what they are about.
 */
export function auditExpiryOf(expiry: Expiry, auditRetentionDays: number): Expiry | null {
  if (auditRetentionDays === 0) return null
  const since = utcDayStart(new Date(expiry.at.getTime() - auditRetentionDays * DAY_MS))
  return { ...expiry, before: since < expiry.before ? since : expiry.before }
}
