import * as v from 'valibot'
import type { Schema } from '../../api/client.ts'
import { choice, repositoryName, text } from '../../list/search-params.ts'
import { PROVIDERS } from '../../page/provider-names.ts'
import { AGE_DAYS, KINDS, SEVERITIES, STATUSES } from '../issues/issue-search.ts'

export type Finding = Schema<'Finding'>

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
