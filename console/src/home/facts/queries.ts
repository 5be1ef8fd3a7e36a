import { api } from '../../api/client.ts'
import type { Provider } from '../../page/names.ts'

export const URGENT_SHOWN = 5

/** More than are shown, because the oldest of the worst are the most urgent. */
const URGENT_READ = 25

/** The numbers of days that the charts of Home can show. */
export const PERIODS = [7, 30, 90] as const

export const DEFAULT_PERIOD = 30

/** Whether anything has been uploaded, and whether anything has run. */
export function firstStepQueries(org: string) {
  const params = { path: { org }, query: { limit: 1 } }
  return {
    uploads: api.queryOptions('get', '/app/api/orgs/{org}/security/uploads', { params }),
    runs: api.queryOptions('get', '/app/api/orgs/{org}/runs', { params }),
  }
}

export function waitingQuery(org: string) {
  const query = { status: 'pending_approval' as const, limit: 100 }
  return api.queryOptions('get', '/app/api/orgs/{org}/deployments', { params: { path: { org }, query } })
}

/** The newest failures that nothing has mended since, and the default branches of the repositories. */
export function brokenQueries(org: string) {
  const path = { org }
  const failed = (limit: number) => ({
    params: { path, query: { status: 'failure' as const, recovered: false, limit } },
  })
  return {
    runs: api.queryOptions('get', '/app/api/orgs/{org}/runs', failed(50)),
    deployments: api.queryOptions('get', '/app/api/orgs/{org}/deployments', failed(5)),
    repositories: api.queryOptions('get', '/app/api/orgs/{org}/repositories', {
      params: { path, query: { limit: 100 } },
    }),
  }
}

export function urgentQueries(org: string) {
  const read = (query: { severity?: 'critical'; kev?: true }) =>
    api.queryOptions('get', '/app/api/orgs/{org}/security/issues', {
      params: { path: { org }, query: { ...query, status: 'open', sort: 'severity', limit: URGENT_READ } },
    })
  return { critical: read({ severity: 'critical' }), exploited: read({ kev: true }) }
}

/** So many of each are on the page of a repository. */
export const RECENT = 5

/** The worst open issues of a repository, and the newest of what else is known of it. */
export function repositoryQueries(org: string, repository: string, provider: Provider | undefined) {
  const path = { org }
  const named = { repository, provider, limit: RECENT }
  const worst = { ...named, status: 'open' as const, sort: 'severity' as const }
  const params = { path, query: { repository, limit: RECENT } }
  return {
    issues: api.queryOptions('get', '/app/api/orgs/{org}/security/issues', { params: { path, query: worst } }),
    runs: api.queryOptions('get', '/app/api/orgs/{org}/runs', { params }),
    deployments: api.queryOptions('get', '/app/api/orgs/{org}/deployments', { params }),
    uploads: api.queryOptions('get', '/app/api/orgs/{org}/security/uploads', { params: { path, query: named } }),
    changes: api.queryOptions('get', '/app/api/orgs/{org}/changes', { params: { path, query: named } }),
  }
}

/** What the newest bills of materials of a repository contain, and its newest uploads. */
export function sbomQueries(org: string, repository: string, provider: Provider | undefined) {
  const params = { path: { org }, query: { repository, provider, limit: 100 } }
  return {
    components: api.queryOptions('get', '/app/api/orgs/{org}/components', { params }),
    uploads: api.queryOptions('get', '/app/api/orgs/{org}/security/uploads', { params }),
  }
}

export function chartQueries(org: string, days: number) {
  const params = { path: { org }, query: { days } }
  return {
    runs: api.queryOptions('get', '/app/api/orgs/{org}/charts/runs', { params }),
    delivery: api.queryOptions('get', '/app/api/orgs/{org}/charts/delivery', { params }),
    issues: api.queryOptions('get', '/app/api/orgs/{org}/charts/issues', { params }),
  }
}
