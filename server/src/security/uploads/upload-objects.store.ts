import type { Db } from '../../platform/db/sql.ts'
import { getReportKey } from './upload-file.ts'

/**
 * SQL: the objects of all uploads, and whether each one must exist. Those of CI reports are
 * artifacts.
 */
export function buildUploadObjects(db: Db) {
  return db`
    select format(${getReportKey('%s', '%s')}, org_id, id) as key, size, sha256,
      status in ('queued', 'parsing', 'finished') as is_required
    from security_uploads
    where origin <> 'report'`
}
