import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readArtifact } from '../../src/security/uploads/read-artifact.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { scan, sendReport, uploadArtifact } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { writePlans } from '../support/plans.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

const READS_PER_RUN = 3
const FILES = 8

let api: TestApi
let plans: Awaited<ReturnType<typeof writePlans>>

before(async () => {
  plans = await writePlans({ few: { security_uploads_per_commit_max: READS_PER_RUN } })
  api = await startTestApi({ env: plans.env })
})
after(async () => {
  await api?.close()
  await plans?.remove()
})

test("the plan's reports per run are exact when all files of a run are taken at the same instant, twice", async () => {
  const caller = await api.caller({ plan: 'few' })
  const { id: runId } = await createRun(api, caller)
  const names = Array.from({ length: FILES }, (_, at) => `${at}.sarif`)
  const attestations = names.map((artifact) => scan({ artifact }, artifact))
  const sent = await sendReport(api, caller, runId, { attestations })
  const ids: string[] = []
  for (const name of names) {
    ids.push(await uploadArtifact(api, caller, sent, name, JSON.stringify(sarif([sarifResult(name)]))))
  }
  const taken = [...ids, ...ids].map((artifact_id) => readArtifact(api.services, { org_id: caller.orgId, artifact_id }))
  await Promise.all(taken)
  const rows = await api.services.sql<{ status: string; uploads: number }[]>`
    select status, count(*) as uploads
    from security_uploads
    where org_id = ${caller.orgId}
    group by status
    order by status`
  assert.deepEqual(
    rows.map(({ status, uploads }) => [status, uploads]),
    [
      ['failed', FILES - READS_PER_RUN],
      ['queued', READS_PER_RUN],
    ],
  )
})
