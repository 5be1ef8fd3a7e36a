import * as v from 'valibot'
import { listQuery } from '../../api/queries.ts'
import { choice, text } from '../../list/search-params.ts'
import { OBJECT_TYPES, PRINCIPAL_TYPES } from './audit-vocabulary.ts'

export const AuditSearch = v.object({
  principal_type: choice(PRINCIPAL_TYPES),
  principal_id: text(200),
  action: text(100),
  object_type: choice(OBJECT_TYPES),
  object_id: text(200),
  since: day(),
  until: day(),
})
export type AuditSearch = v.InferOutput<typeof AuditSearch>

/** A day in the reader's zone, such as 2026-01-31. */
function day() {
  const isDay = (value: string) => !Number.isNaN(new Date(`${value}T00:00`).getTime())
  return v.fallback(v.optional(v.pipe(v.string(), v.isoDate(), v.check(isDay))), undefined)
}

/** The filters of the API. Days of the reader's zone are its times, from the start of one to the end of the other. */
export function toAuditFilters({ since, until, ...same }: AuditSearch) {
  return {
    ...same,
    since: since === undefined ? undefined : new Date(`${since}T00:00:00`).toISOString(),
    until: until === undefined ? undefined : new Date(`${until}T23:59:59.999`).toISOString(),
  }
}

/** The entries that match the filters. */
export function auditLogQuery(org: string, search: AuditSearch) {
  const query = { ...toAuditFilters(search), limit: 100 }
  return listQuery('/app/api/orgs/{org}/audit-log', { path: { org }, query })
}
