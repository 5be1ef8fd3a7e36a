import type { HostRepository } from '../../codehosts/host-repository.ts'

export const HOST = 'github.example.com'
export const OWNER = 'northlane'

/** A repository of the fictional company. */
export type DemoRepository = {
  name: string
  language: 'javascript' | 'python' | 'go' | 'java' | 'terraform'
  /** Merged pull requests in the three months. */
  changes: number
  /** Whether merged changes are deployed to development, staging and production. */
  isService: boolean
  /** Typical minutes of a CI run. */
  minutes: number
}

/** The repositories on the code host. */
export const HOSTED: readonly DemoRepository[] = [
  { name: 'checkout', language: 'javascript', changes: 24, isService: true, minutes: 7 },
  { name: 'payments', language: 'java', changes: 19, isService: true, minutes: 11 },
  { name: 'web-storefront', language: 'javascript', changes: 22, isService: true, minutes: 9 },
  { name: 'catalog-api', language: 'go', changes: 16, isService: true, minutes: 4 },
  { name: 'identity', language: 'python', changes: 13, isService: true, minutes: 6 },
  { name: 'mobile-gateway', language: 'javascript', changes: 10, isService: false, minutes: 5 },
  { name: 'notifications', language: 'python', changes: 9, isService: false, minutes: 4 },
  { name: 'search-indexer', language: 'go', changes: 9, isService: false, minutes: 3 },
  { name: 'infrastructure', language: 'terraform', changes: 11, isService: false, minutes: 3 },
  { name: 'shared-ui', language: 'javascript', changes: 8, isService: false, minutes: 6 },
]

/** A repository whose CI system reports by the API. Its deployments ask our gates. */
export type PipelineRepository = {
  name: string
  system: 'buildkite' | 'jenkins'
  displayName: string
  everyDays: number
}

export const REPORTED: readonly PipelineRepository[] = [
  { name: 'data-pipeline', system: 'buildkite', displayName: 'Buildkite', everyDays: 1 },
  { name: 'legacy-billing', system: 'jenkins', displayName: 'Jenkins', everyDays: 2 },
]

export function formatFullName(name: string): string {
  return `${OWNER}/${name}`
}

/** A repository as its code host would describe it. `number` is its place in the list. */
export function toHostRepository(name: string, number: number, at: Date): HostRepository {
  return {
    provider: 'github',
    host: HOST,
    id: `${48_200 + number}`,
    full_name: formatFullName(name),
    owner_id: '4810',
    default_branch: 'main',
    html_url: `https://${HOST}/${formatFullName(name)}`,
    private: true,
    archived: false,
    updated_at: at,
  }
}
