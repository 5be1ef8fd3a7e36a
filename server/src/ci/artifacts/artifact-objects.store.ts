import type { Db } from '../../platform/db/sql.ts'
import { formatArtifactKey } from './artifact-object.ts'

/** SQL: the objects of all artifacts, and whether each one must exist. */
export function buildArtifactObjects(db: Db) {
  return db`
    select format(${formatArtifactKey('%s', '%s')}, org_id, id) as key, size, sha256, status = 'uploaded' as is_required
    from ci_artifacts`
}
