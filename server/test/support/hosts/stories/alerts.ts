import type { Change } from '../change.ts'
import type { Account, Alert, AlertDetails, AlertType, Repository } from '../types.ts'
import type { World } from '../world.ts'

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

export type NewAlert = { type: AlertType } & Partial<AlertDetails>

export function openAlert(world: World, repository: Repository, { type, ...details }: NewAlert): Alert {
  const at = world.now()
  const ref = `refs/heads/${repository.default_branch}`
  const sha = repository.refs.get(ref) ?? '0'.repeat(40)
  const number = repository.alerts.filter((other) => other.type === type).length + 1
  const alert: Alert = {
    ...world.newIds(),
    type,
    number,
    repository,
    state: 'open',
    created_at: at,
    updated_at: at,
    fixed_at: null,
    dismissal: null,
    details: { ...ALERT_DETAILS, sha, ref, ...details },
  }
  repository.alerts.push(alert)
  emitAlert(world, alert, 'opened', repository.owner)
  return alert
}

/** The scanner no longer finds it. */
export function fixAlert(world: World, alert: Alert): void {
  Object.assign(alert, { state: 'fixed', fixed_at: world.now(), dismissal: null })
  emitAlert(world, alert, 'fixed', alert.repository.owner)
}

export function reopenAlert(world: World, alert: Alert, by: Account): void {
  const from = alert.state
  Object.assign(alert, { state: 'open', fixed_at: null, dismissal: null })
  emitAlert(world, alert, 'reopened', by, from)
}

/** `reason` is one of `DISMISS_REASONS`, for which hosts have their own words, or such a word. */
export function dismissAlert(
  world: World,
  alert: Alert,
  by: Account,
  { reason, comment = null }: { reason: string; comment?: string | null },
): void {
  Object.assign(alert, { state: 'dismissed', dismissal: { by, at: world.now(), reason, comment } })
  emitAlert(world, alert, 'dismissed', by)
}

type AlertAction = Extract<Change, { type: 'alert' }>['action']

function emitAlert(world: World, alert: Alert, action: AlertAction, by: Account, from = alert.state): void {
  alert.updated_at = world.now()
  world.emit({ type: 'alert', action, repository: alert.repository, by, from, alert })
}
