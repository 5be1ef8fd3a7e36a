import { alertObject } from '../objects/alert.ts'
import type { Account, Alert, AlertDetails, AlertType, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'

export const ALERT_DETAILS: AlertDetails = {
  severity: 'high',
  title: 'Database query built from user-controlled sources',
  description: 'This query depends on a user-provided value.',
  rule: 'js/sql-injection',
  tool: { name: 'CodeQL', version: '2.20.1' },
  cwes: ['CWE-89'],
  path: 'src/cart.ts',
  line: 12,
  ref: 'refs/heads/main',
  sha: '',
  ecosystem: 'npm',
  package: 'lodash',
  vulnerableVersions: '< 4.17.21',
  patchedVersion: '4.17.21',
  ghsa: 'GHSA-35jh-r3h4-6jhm',
  cve: 'CVE-2021-23337',
  cvss: { score: 7.2, vector: 'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H' },
  secretType: 'github_personal_access_token',
  secretName: 'GitHub Personal Access Token',
  secret: 'ghp_0000000000000000000000000000000000aa',
  validity: 'active',
}

export function openAlert(
  world: World,
  repository: Repository,
  { type, ...details }: { type: AlertType } & Partial<AlertDetails>,
): Alert {
  const at = world.now()
  const head = repository.refs.get(`refs/heads/${repository.default_branch}`) ?? '0'.repeat(40)
  const alert: Alert = {
    type,
    number: repository.alerts.filter((other) => other.type === type).length + 1,
    repository,
    state: 'open',
    created_at: at,
    updated_at: at,
    fixed_at: null,
    dismissal: null,
    details: { ...ALERT_DETAILS, sha: head, ref: `refs/heads/${repository.default_branch}`, ...details },
  }
  repository.alerts.push(alert)
  emitAlert(world, alert, 'created', repository.owner)
  return alert
}

/** Code scanning or Dependabot no longer finds it. Secrets are not fixed but resolved. */
export function fixAlert(world: World, alert: Alert): void {
  if (alert.type === 'secret_scanning') throw new Error('A secret is resolved by dismissing it as revoked')
  Object.assign(alert, { state: 'fixed', fixed_at: world.now(), dismissal: null })
  emitAlert(world, alert, 'fixed', alert.repository.owner)
}

export function reopenAlert(world: World, alert: Alert, by: Account): void {
  const wasDismissed = alert.state === 'dismissed'
  Object.assign(alert, { state: 'open', fixed_at: null, dismissal: null })
  emitAlert(world, alert, reopenedAction(alert.type, wasDismissed), by)
}

function reopenedAction(type: AlertType, wasDismissed: boolean): string {
  if (type === 'code_scanning') return wasDismissed ? 'reopened_by_user' : 'reopened'
  return type === 'dependabot' && !wasDismissed ? 'reintroduced' : 'reopened'
}

const DISMISSED_ACTIONS = { code_scanning: 'closed_by_user', dependabot: 'dismissed', secret_scanning: 'resolved' }

/** Somebody dismisses an alert, or resolves a secret, with a reason of GitHub's list. */
export function dismissAlert(
  world: World,
  alert: Alert,
  by: Account,
  why: { reason: string; comment?: string | null },
): void {
  const { reason, comment = null } = why
  Object.assign(alert, { state: 'dismissed', dismissal: { by, at: world.now(), reason, comment } })
  emitAlert(world, alert, DISMISSED_ACTIONS[alert.type], by)
}

function emitAlert(world: World, alert: Alert, action: string, sender: Account): void {
  alert.updated_at = world.now()
  const fields = alertFields(world, alert)
  world.emit(alert.repository, { event: `${alert.type}_alert`, action, sender, fields })
}

/** Webhooks have neither the secret nor its place, and no time of a fix for code scanning. */
function alertFields(world: World, alert: Alert): Record<string, unknown> {
  const { secret, first_location_detected, ...object } = alertObject(world, alert)
  if (alert.type !== 'code_scanning') return { alert: object }
  return { alert: { ...object, fixed_at: null }, ref: alert.details.ref, commit_oid: alert.details.sha }
}
