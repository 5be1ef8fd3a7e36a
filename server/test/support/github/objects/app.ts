import type { App, Installation } from '../types.ts'
import { ACCOUNT_TYPES, simpleUser } from './accounts.ts'
import type { Urls } from './urls.ts'

/** The permissions of our App (providers.md, 1). */
export const APP_PERMISSIONS = {
  metadata: 'read',
  actions: 'read',
  checks: 'read',
  contents: 'read',
  pull_requests: 'read',
  merge_queues: 'read',
  members: 'read',
  environments: 'read',
  deployments: 'write',
  statuses: 'write',
  security_events: 'write',
  vulnerability_alerts: 'write',
  secret_scanning_alerts: 'write',
}

export const APP_EVENTS = [
  'check_run',
  'code_scanning_alert',
  'dependabot_alert',
  'deployment',
  'deployment_protection_rule',
  'deployment_review',
  'deployment_status',
  'pull_request',
  'pull_request_review',
  'push',
  'repository',
  'secret_scanning_alert',
  'workflow_job',
  'workflow_run',
]

export type AppFacts = Pick<App, 'id' | 'slug' | 'name' | 'owner' | 'created_at'> & {
  permissions?: Record<string, string>
  events?: string[]
}

export function integration(urls: Urls, app: AppFacts) {
  return {
    id: app.id,
    slug: app.slug,
    node_id: `A_${app.id}`,
    client_id: `Iv1.${app.id.toString(16).padStart(16, '0')}`,
    owner: simpleUser(urls, app.owner),
    name: app.name,
    description: '',
    external_url: 'https://shiplock.example',
    html_url: `${urls.html}/apps/${app.slug}`,
    created_at: app.created_at,
    updated_at: app.created_at,
    permissions: app.permissions ?? APP_PERMISSIONS,
    events: app.events ?? APP_EVENTS,
  }
}

export function wholeInstallation(urls: Urls, app: App, installation: Installation) {
  const { id, account } = installation
  const page = account.type === 'organization' ? `${urls.html}/organizations/${account.login}` : urls.html
  return {
    id,
    client_id: `Iv1.${app.id.toString(16).padStart(16, '0')}`,
    account: simpleUser(urls, account),
    repository_selection: installation.selection,
    access_tokens_url: `${urls.api}/app/installations/${id}/access_tokens`,
    repositories_url: `${urls.api}/installation/repositories`,
    html_url: `${page}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: ACCOUNT_TYPES[account.type],
    permissions: APP_PERMISSIONS,
    events: APP_EVENTS,
    created_at: installation.created_at,
    updated_at: installation.updated_at,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: installation.suspended_at === null ? null : simpleUser(urls, account),
    suspended_at: installation.suspended_at,
  }
}
