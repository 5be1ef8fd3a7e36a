import type { Schema } from '../api/client.ts'
import type { Permission } from '../api/session.ts'

/** The permissions as people read them (console.md §2). */
export const PERMISSION_NAMES: Record<Permission, string> = {
  view: 'View',
  upload_security_reports: 'Upload security reports',
  triage: 'Triage findings and issues',
  answer_deployment_gates: 'Answer deployment gates',
  override_compliance: 'Override compliance',
  manage_gates: 'Manage gates',
  manage_policies: 'Manage policies',
  read_audit_log: 'Read the audit log',
  manage_integrations: 'Manage keys, OIDC trusts and code hosts',
  manage_members: 'Manage members, roles and single sign-on',
}

export const PROVIDERS = ['github', 'gitlab', 'bitbucket', 'azure'] as const satisfies Provider[]

/** Code hosts as people write them. */
export const PROVIDER_NAMES: Record<Provider, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  bitbucket: 'Bitbucket',
  azure: 'Azure DevOps',
}

const LIST_NAMES: Record<string, string> = {
  repositories: 'The repositories',
  runs: 'Runs',
  deployments: 'Deployments',
  code_scanning_alerts: 'Code scanning alerts',
  dependabot_alerts: 'Dependency alerts',
  secret_scanning_alerts: 'Secret scanning alerts',
  pull_requests: 'Pull requests',
  pushes: 'Pushes',
}

/** A list of a repository, as people call it. */
export function listText(list: string): string {
  return LIST_NAMES[list] ?? list
}

export type Provider = NonNullable<Schema<'Issue'>['provider']>

/** Who can reach what runs in an environment. */
export const EXPOSURE_NAMES = {
  internet: 'Internet',
  internal: 'Internal network',
  none: 'Not reachable',
  unknown: 'Unknown',
} as const
