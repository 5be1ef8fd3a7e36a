import type { AppSetupOptions } from '../../../code-host.ts'

/** Where GitHub sends events, and where it sends the browser after it has created the App. */
const WEBHOOK_PATH = '/webhooks/github'
export const SETUP_PATH = '/setup/github'
export const CREATED_PATH = '/setup/github/created'
/** Where GitHub sends the browser after somebody has installed the App. */
export const INSTALLED_PATH = '/setup/github/installed'

/** GitHub refuses longer names of Apps. */
const NAME_CHARS_MAX = 34

/** The permissions of the App; docs/github.md states the reason for each. */
const PERMISSIONS = {
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
}

/** Code scanning, Dependabot and secret scanning, in GitHub's names. */
const ALERT_PERMISSIONS = ['security_events', 'vulnerability_alerts', 'secret_scanning_alerts']

/** GitHub sends `installation` and `installation_repositories` to every App. */
const EVENTS = [
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

/** The App as GitHub creates it ("Registering a GitHub App from a manifest"). */
export function createAppManifest(baseUrl: string, options: AppSetupOptions) {
  const access = options.read_only_alerts ? 'read' : 'write'
  return {
    name: `Shiplock ${new URL(baseUrl).hostname}`.slice(0, NAME_CHARS_MAX).trim(),
    url: baseUrl,
    hook_attributes: { url: baseUrl + WEBHOOK_PATH, active: true },
    redirect_url: baseUrl + CREATED_PATH,
    setup_url: baseUrl + INSTALLED_PATH,
    public: options.public,
    default_permissions: { ...PERMISSIONS, ...Object.fromEntries(ALERT_PERMISSIONS.map((name) => [name, access])) },
    default_events: EVENTS,
  }
}

/** The form of GitHub that creates an App from a manifest. */
export function formatNewAppUrl(apiUrl: string, organization: string | null, state: string): string {
  const owner = organization === null ? '' : `organizations/${encodeURIComponent(organization)}/`
  return `${webUrl(apiUrl)}/${owner}settings/apps/new?state=${encodeURIComponent(state)}`
}

/**
 * The address of GitHub's pages, from the address of its API: `https://api.github.com`,
 * `https://api.NAME.ghe.com`, or `https://HOST/api/v3` of an Enterprise Server.
 */
function webUrl(apiUrl: string): string {
  const url = new URL(apiUrl)
  const isOfGithub = url.hostname === 'api.github.com' || url.hostname.endsWith('.ghe.com')
  if (isOfGithub) return `https://${url.host.replace(/^api\./, '')}`
  return apiUrl.replace(/\/api\/v3$/, '')
}

/**
 * GitHub's page that installs an App. GitHub returns the organization, as `state`, to our address.
 */
export function formatInstallUrl({ html_url }: { html_url: string }, org: string): string {
  return `${html_url}/installations/new?state=${encodeURIComponent(org)}`
}
