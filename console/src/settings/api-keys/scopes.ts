import type { Schema } from '../../api/client.ts'
import type { Permission } from '../../api/session.ts'

export type Scope = Schema<'ApiKey'>['scopes'][number]

type ScopeGroup = { title: string; scopes: { scope: Scope; about: string; permission: Permission }[] }

/** What keys can do, and the permission that somebody needs to give it. */
export const SCOPE_GROUPS: ScopeGroup[] = [
  {
    title: 'Read',
    scopes: [
      { scope: 'read:pipelines', about: 'Runs, their jobs, reports and artifacts.', permission: 'view' },
      { scope: 'read:deployments', about: 'Deployments, gates and environments.', permission: 'view' },
      { scope: 'read:security', about: 'Findings, issues, alerts and uploads.', permission: 'view' },
      { scope: 'read:compliance', about: 'Policies and their results.', permission: 'view' },
      { scope: 'read:attestations', about: 'Changes, lineage, statements and keys.', permission: 'view' },
    ],
  },
  {
    title: 'Report',
    scopes: [
      {
        scope: 'write:ci',
        about: 'Create runs, send job reports and artifacts, open deployment gates.',
        permission: 'manage_integrations',
      },
      {
        scope: 'write:security-findings',
        about: 'Upload reports of scanners and SBOMs.',
        permission: 'upload_security_reports',
      },
    ],
  },
  {
    title: 'Decide',
    scopes: [
      {
        scope: 'write:deployments',
        about: 'Approve and reject deployments whose gate accepts keys.',
        permission: 'answer_deployment_gates',
      },
      {
        scope: 'write:compliance-override',
        about: 'Approve deployments that a policy blocks. Give it with care.',
        permission: 'override_compliance',
      },
    ],
  },
]
