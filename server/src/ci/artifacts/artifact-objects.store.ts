import type { Db } from '../../platform/db/sql.ts'
import { artifactKey } from './artifact-object.ts'

/** SQL: the objects of all artifacts, and whether each one must exist. */
export function artifactObjects(db: Db) {
  return db`
    select format(${artifactKey('%s', '%s')}, org_id, id) as key, size, sha256, status = 'uploaded' as is_required
    from ci_artifacts`
}
