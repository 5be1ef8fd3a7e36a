/** A role that members can have. The id is that of a built-in role, or a UUID. */
export type Role = { id: string; name: string; built_in: boolean; permissions: readonly Permission[] }

/** A role as tables store it. */
export type StoredRole = { built_in_role: BuiltInRoleId | null; custom_role_id: string | null }

export function toStoredRole({ id }: Pick<Role, 'id'>): StoredRole {
  return isBuiltIn(id) ? { built_in_role: id, custom_role_id: null } : { built_in_role: null, custom_role_id: id }
}

export function isBuiltIn(id: string): id is BuiltInRoleId {
  return BUILT_IN_ROLE_IDS.some((known) => known === id)
}

export function getBuiltInRole(id: BuiltInRoleId): Role {
  return { id, built_in: true, ...BUILT_IN_ROLES[id] }
}

export function getRoleId({ built_in_role, custom_role_id }: StoredRole): string {
  return (built_in_role ?? custom_role_id) as string
}

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

export const BUILT_IN_ROLE_IDS = ['viewer', 'developer', 'release_manager', 'security', 'org_admin'] as const
export type BuiltInRoleId = (typeof BUILT_IN_ROLE_IDS)[number]

type BuiltInRole = { name: string; permissions: readonly Permission[] }

/** The roles that every organization has. They cannot be changed. */
export const BUILT_IN_ROLES: Record<BuiltInRoleId, BuiltInRole> = {
  viewer: { name: 'Viewer', permissions: ['view'] },
  developer: { name: 'Developer', permissions: ['view', 'upload_security_reports'] },
  release_manager: {
    name: 'Release manager',
    permissions: ['view', 'upload_security_reports', 'answer_deployment_gates', 'manage_gates', 'read_audit_log'],
  },
  security: {
    name: 'Security',
    permissions: [
      'view',
      'upload_security_reports',
      'triage',
      'override_compliance',
      'manage_policies',
      'read_audit_log',
    ],
  },
  org_admin: { name: 'Org admin', permissions: PERMISSIONS },
}
