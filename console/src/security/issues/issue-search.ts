import * as v from 'valibot'
import type { Schema } from '../../api/client.ts'
import { choice, repositoryName, text } from '../../list/search-params.ts'
import { PROVIDERS } from '../../page/provider-names.ts'

export type Issue = Schema<'Issue'>

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
export const EPSS_MIN = { 'over-1': 0.01, 'over-10': 0.1, 'over-50': 0.5 } as const
/** Days since an issue was created. */
export const AGE_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const
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
