import { updateTriagedFindings } from '../../src/security/writing/finding-writing.store.ts'
import { lockTriaged } from '../../src/security/writing/grouping.store.ts'
import { updateRefreshedIssues } from '../../src/security/writing/issue-writing.store.ts'
import { insertTriage, type NewTriage } from '../../src/security/writing/triage.store.ts'
import type { TestApi } from './api.ts'

/** Dismisses every finding of an organization, or those with these ids. Returns the id of the triage. */
export async function dismissAll(
  { services: { sql, clock } }: TestApi,
  orgId: string,
  given: Partial<NewTriage> = {},
  only: string[] | null = null,
) {
  const at = clock.now()
  return sql.begin(async (tx) => {
    const findings = await tx<{ id: string; repository_no: number }[]>`
      select id, repository_no
      from findings
      where org_id = ${orgId}
        and (${only}::uuid[] is null or id = any(${only}::uuid[]))`
    const findingIds = findings.map(({ id }) => id)
    await lockTriaged(tx, orgId, [...new Set(findings.map(({ repository_no }) => repository_no))])
    const triage: NewTriage = {
      ...{ action: 'dismiss', source: 'shiplock', target: { type: 'finding', ids: findingIds }, reason: 'wont_fix' },
      ...{ comment: null, expires_at: null, by: { id: null, name: 'Ada Lovelace' }, at, ...given },
    }
    const triageId = await insertTriage(tx, orgId, triage)
    await updateRefreshedIssues(tx, orgId, await updateTriagedFindings(tx, orgId, { triageId, findingIds, at }), at)
    return triageId
  })
}
