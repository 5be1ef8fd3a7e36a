import { rolledBack } from '../../../platform/db/rolled-back.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import type { Services } from '../../../services.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { nextBuckets, nextRepository } from './regroup.store.ts'
import { regroupBuckets } from './regroup-buckets.ts'
import { addUp, type Follow, ISSUES_AT_ONCE } from './regroup-organization.ts'
import type { RegroupRun } from './regroup-run.store.ts'

const NOTHING_YET: RegroupRun = {
  ...{ id: '', status: 'running', repository_no: 0, bucket: null, batches: 0 },
  ...{ findings: 0, moved: 0, restated: 0, merged: 0, split: 0 },
}

/**
 * What `regroupOrganization` would do from the start. It does it, one repository in one transaction, and takes it back: reports of
 * that repository wait meanwhile.
 */
export async function previewRegroup({ sql, clock }: Services, orgId: string, follow: Follow): Promise<RegroupRun> {
  let run = NOTHING_YET
  for (let at = await nextRepository(sql, orgId, 0); at !== null; at = await nextRepository(sql, orgId, at)) {
    const repositoryNo = at
    run = await rolledBack(sql, (tx) =>
      previewRepository(tx, orgId, { ...run, repository_no: repositoryNo }, clock.now(), follow),
    )
  }
  return { ...run, status: 'finished' }
}

async function previewRepository(tx: Tx, orgId: string, start: RegroupRun, at: Date, follow: Follow) {
  const scope = { org_id: orgId, repository_no: start.repository_no, at }
  await lockRepository(tx, orgId, start.repository_no)
  let run: RegroupRun = { ...start, bucket: null }
  for (;;) {
    const buckets = await nextBuckets(tx, orgId, scope.repository_no, run.bucket, ISSUES_AT_ONCE)
    const last = buckets.at(-1)
    if (last === undefined) return run
    const done = await regroupBuckets(tx, scope, buckets, { by: 'rules' })
    run = { ...addUp(run, done), bucket: last }
    follow(run, done.changes)
  }
}
