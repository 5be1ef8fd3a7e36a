import type { BuiltInRoleId } from '../../access/role.ts'
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

/** A fictional colleague. `login` is their account on the fictional code host. */
export type Colleague = { name: string; login: string; role: BuiltInRoleId | 'auditor'; joined: number }

/** The domain of their addresses, which nobody can own (RFC 2606). */
export const DOMAIN = 'northlane.example.com'

/** `joined` is the number of days before today. */
export const COLLEAGUES: readonly Colleague[] = [
  { name: 'Ingrid Solberg', login: 'isolberg', role: 'org_admin', joined: 90 },
  { name: 'Mateo Alvarez', login: 'malvarez', role: 'release_manager', joined: 90 },
  { name: 'Liam Byrne', login: 'lbyrne', role: 'release_manager', joined: 88 },
  { name: 'Priya Raman', login: 'praman', role: 'security', joined: 90 },
  { name: 'Samuel Okafor', login: 'sokafor', role: 'security', joined: 61 },
  { name: 'Tomasz Nowak', login: 'tnowak', role: 'developer', joined: 89 },
  { name: 'Aisha Bello', login: 'abello', role: 'developer', joined: 89 },
  { name: 'Hannah Weiss', login: 'hweiss', role: 'developer', joined: 86 },
  { name: 'Kenji Watanabe', login: 'kwatanabe', role: 'developer', joined: 70 },
  { name: 'Sofia Lindqvist', login: 'slindqvist', role: 'viewer', joined: 52 },
  { name: 'Claire Dubois', login: 'cdubois', role: 'auditor', joined: 40 },
]

export const AUTHORS = ['tnowak', 'abello', 'hweiss', 'kwatanabe', 'praman'] as const
export const REVIEWERS = ['tnowak', 'abello', 'hweiss', 'kwatanabe', 'sokafor', 'isolberg'] as const
export const RELEASE_MANAGERS = ['malvarez', 'lbyrne'] as const
