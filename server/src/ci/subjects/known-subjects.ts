import type { Db } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { SubjectItem } from './subject.schema.ts'
import { listKnownDigests } from './subject.store.ts'
import { type SubjectRow, toSubjectRows } from './subject.ts'

/**
 * The rows of subjects that are to be deployed. Throws 400 `invalid_request` for one that is
 * neither a subject nor a completed artifact of a run.
 */
export async function requireKnownSubjects(
  db: Db,
  orgId: string,
  subjects: readonly SubjectItem[],
): Promise<SubjectRow[]> {
  if (subjects.length === 0) return []
  const known = await listKnownDigests(
    db,
    orgId,
    subjects.map(({ sha256 }) => sha256),
  )
  const index = subjects.findIndex(({ sha256 }) => !known.has(sha256))
  if (index >= 0)
    throw createInvalidFieldError(
      `/body/subjects/${index}/sha256`,
      'must be the digest of a subject or completed artifact of a run. Send a report with it first',
    )
  return toSubjectRows(subjects)
}
