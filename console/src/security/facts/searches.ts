import * as v from 'valibot'
import type { Schema } from '../../api/client.ts'
import { choice, day, repositoryName, text } from '../../list/search-params.ts'
import { PROVIDERS } from '../../page/names.ts'

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const satisfies Issue['severity'][]
export const STATUSES = ['open', 'fixed', 'dismissed'] as const satisfies Issue['status'][]

export const KINDS = [
  'code',
  'dependency',
  'secret',
  'iac',
  'container',
  'license',
  'other',
] as const satisfies Issue['kind'][]

/** EPSS scores from which an issue is shown. */
const EPSS_MIN = { 'over-1': 0.01, 'over-10': 0.1, 'over-50': 0.5 } as const

/** Days since an issue was created. */
const AGE_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const

const DAY_MS = 86_400_000

/** What the address of the list of issues can hold. */
export const IssueSearch = v.object({
  severity: choice(SEVERITIES),
  status: choice(STATUSES),
  kind: choice(KINDS),
  repository: repositoryName(),
  provider: choice(PROVIDERS),
  package: text(300),
  vulnerability: text(100),
  urgent: choice(['yes', 'no']),
  kev: choice(['yes', 'no']),
  epss: choice(['over-1', 'over-10', 'over-50']),
  age: choice(['24h', '7d', '30d', '90d']),
  sort: choice(['newest', 'severity', 'epss']),
})

/** What the address of the list of findings can hold. */
export const FindingSearch = v.object({
  severity: choice(SEVERITIES),
  state: choice(STATUSES),
  kind: choice(KINDS),
  repository: repositoryName(),
  provider: choice(PROVIDERS),
  scanner: text(300),
  category: text(300),
  branch: text(255),
  path: text(1000),
  age: choice(['24h', '7d', '30d', '90d']),
})

export const ALERT_STATUSES = ['open', 'fixed', 'dismissed'] as const
export const ALERT_SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const

/** What the address of the list of alerts can hold. */
export const AlertSearch = v.object({
  status: choice(ALERT_STATUSES),
  severity: choice(ALERT_SEVERITIES),
  since: day(),
  until: day(),
})

export const TRIAGE_ACTIONS = ['dismiss', 'reopen', 'split', 'merge'] as const
export const TRIAGE_SOURCES = ['shiplock', 'openvex', 'csaf', 'cyclonedx'] as const
export const TRIAGE_STATUSES = ['active', 'undone', 'expired', 'replaced'] as const

/** What the address of the triage history can hold. */
export const TriageSearch = v.object({
  action: choice(TRIAGE_ACTIONS),
  source: choice(TRIAGE_SOURCES),
  status: choice(TRIAGE_STATUSES),
  since: day(),
  until: day(),
})

export type Issue = Schema<'Issue'>

export type IssueSearch = v.InferOutput<typeof IssueSearch>

/** The query of the API. An age begins at a full hour, so that the same view is the same query. */
export function toIssueFilters({ urgent, kev, epss, age, ...same }: IssueSearch, now: number) {
  const hour = Math.floor(now / 3_600_000) * 3_600_000
  return {
    ...same,
    ...(urgent && { urgent: urgent === 'yes' }),
    ...(kev && { kev: kev === 'yes' }),
    ...(epss && { epss_min: EPSS_MIN[epss] }),
    ...(age && { created_since: new Date(hour - AGE_DAYS[age] * DAY_MS).toISOString() }),
  }
}

/** Whether two addresses show the same list. */
export function isSameSearch(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const given = (search: Record<string, unknown>) => Object.entries(search).filter(([, value]) => value !== undefined)
  return given(a).length === given(b).length && given(a).every(([name, value]) => b[name] === value)
}

export type Finding = Schema<'Finding'>

export type FindingSearch = v.InferOutput<typeof FindingSearch>

/** The query of the API. An age begins at a full hour, so that the same view is the same query. */
export function toFindingFilters({ branch, age, ...same }: FindingSearch, now: number) {
  const hour = Math.floor(now / 3_600_000) * 3_600_000
  return {
    ...same,
    ...(branch && { git_ref: branch }),
    ...(age && { first_seen_since: new Date(hour - AGE_DAYS[age] * 86_400_000).toISOString() }),
  }
}

export type Alert = Schema<'Alert'>
