import type { Db } from '../../platform/db/sql.ts'
import { DISTRIBUTION_CVE } from './plain-id.ts'

/** `plainId` of an expression. */
export function plainIdOf(db: Db, id: ReturnType<Db>) {
  return db`regexp_replace(${id}, ${DISTRIBUTION_CVE}, '\\1')`
}
