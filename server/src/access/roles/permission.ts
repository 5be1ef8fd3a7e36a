/** All permissions of people, in the order in which they are listed. */
export const PERMISSIONS = [
  'view',
  'upload_security_reports',
  'triage',
  'answer_deployment_gates',
  'override_compliance',
  'manage_gates',
  'manage_policies',
  'read_audit_log',
  'manage_integrations',
  'manage_members',
] as const

export type Permission = (typeof PERMISSIONS)[number]

/** What a person with the permission can do, for lists and documentation. */
export const PERMISSION_TITLES: Record<Permission, string> = {
  view: 'View runs, deployments, compliance, findings, issues, alerts and provenance',
  upload_security_reports: 'Upload security reports',
  triage: 'Triage findings and issues',
  answer_deployment_gates: 'Answer deployment gates',
  override_compliance: 'Override compliance',
  manage_gates: 'Manage gates',
  manage_policies: 'Manage policies',
  read_audit_log: 'Read the audit log',
  manage_integrations: 'Manage API keys, OIDC trusts and code hosts',
  manage_members: 'Manage members, roles and single sign-on',
}
