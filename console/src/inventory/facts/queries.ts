import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice, repositoryName, text } from '../../list/search-params.ts'
import { PROVIDERS } from '../../page/names.ts'

const PAGE_SIZE = 100

/** What the address of the inventory can hold. */
export const ComponentSearch = v.object({
  package: text(300),
  purl: text(1000),
  ecosystem: text(100),
  version: text(200),
  license: text(200),
  repository: repositoryName(),
  provider: choice(PROVIDERS),
  direct: choice(['yes', 'no']),
  present: choice(['false', 'any']),
})

export type ComponentSearch = v.InferOutput<typeof ComponentSearch>

/** Which components count: those of what runs, or also those that documents exclude from it. */
export const ExposureSearch = v.object({ scope: choice(['all']) })

/** The components that match the filters. */
export function componentsQuery(org: string, { direct, ...same }: ComponentSearch) {
  const query = { ...same, ...(direct && { direct: direct === 'yes' }), limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/components', { path: { org }, query })
}

export function componentQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/components/{id}', { params: { path: { org, id } } })
}

/** Where a component is, and where it was. */
export function occurrencesQuery(org: string, id: string) {
  return listQuery('/app/api/orgs/{org}/components/{id}/occurrences', {
    path: { org, id },
    query: { limit: PAGE_SIZE },
  })
}

/** The components of a package, in every version that was ever seen. */
export function versionsQuery(org: string, component: { name: string; ecosystem: string | null }) {
  const query = {
    package: component.name.replaceAll('*', '%2A'),
    ...(component.ecosystem && { ecosystem: component.ecosystem }),
    present: 'any' as const,
    limit: PAGE_SIZE,
  }
  return listQuery('/app/api/orgs/{org}/components', { path: { org }, query })
}

/** The issues of a package. */
export function packageIssuesQuery(org: string, name: string) {
  return listQuery('/app/api/orgs/{org}/security/issues', {
    path: { org },
    query: { package: name, sort: 'severity', limit: PAGE_SIZE },
  })
}

/** The deployments of a commit that run. */
export function liveOfCommitQuery(org: string, commit: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/deployments', {
    params: { path: { org }, query: { live: true, commit_sha: commit, limit: PAGE_SIZE } },
  })
}

/** Where a vulnerability runs. */
export function exposureQuery(org: string, vulnerability: string, scope?: 'all') {
  return api.queryOptions('get', '/app/api/orgs/{org}/exposure/{vulnerability}', {
    params: { path: { org, vulnerability }, query: scope ? { scope } : {} },
  })
}

/** Everything that is known about a digest. */
export function artifactQuery(org: string, sha256: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/artifacts', { params: { path: { org }, query: { sha256 } } })
}
