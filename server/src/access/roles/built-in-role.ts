import { PERMISSIONS, type Permission } from './permission.ts'

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
