import type { HostSource } from '../../../server/src/codehosts/host-event.ts'
import type { HostRunStatus } from '../../../server/src/codehosts/host-run.ts'
import type { Caller, TestApi } from '../../../server/test/support/api.ts'
import { sendReport, uploadArtifact } from '../../../server/test/support/ci-reports.ts'
import { hostRun, insertConnection } from '../../../server/test/support/host-objects.ts'
import { applyRunEvents, completedRun, hostJob, minutes } from '../../../server/test/support/provider-runs.ts'

export const RUN_ID = 'gh_run_9001'
const EXCERPT = 'expect(total).toBe(3)\nExpected: 3\nReceived: 4\nat cart.test.ts:17'
const JOBS: [name: string, status: HostRunStatus, from: number, to: number][] = [
  ['build', 'success', 1, 3],
  ['lint', 'success', 1, 2],
  ['test (ubuntu)', 'failure', 3, 7],
  ['test (windows)', 'success', 3, 6],
  ['deploy', 'skipped', 7, 7],
]
const DEPENDENCIES = {
  build: [],
  lint: [],
  test: ['build', 'lint'],
  deploy: ['test', 'build'],
  report: ['test', 'nobody'],
}

/** A run of a code host that failed in its second attempt, with jobs, reports and a file. */
export async function storeFailedRun(api: TestApi, caller: Caller): Promise<HostSource> {
  const source = await insertConnection(api.services.sql, caller.orgId)
  const commit = { sha: 'c0ffee'.padEnd(40, '0'), message: 'Sum up the cart\n\nIn whole cents.' }
  const second = { attempt: 2, started_at: minutes(20), updated_at: minutes(30), completed_at: minutes(30) }
  await applyRunEvents(api.services, source, [
    { kind: 'run', data: completedRun({ status: 'cancelled', commit }) },
    { kind: 'run', data: hostRun({ ...second, status: 'failure', commit }) },
    ...JOBS.map(([name, status, from, to], index) => {
      const times = { started_at: minutes(20 + from), completed_at: minutes(20 + to) }
      return { kind: 'job' as const, data: hostJob({ id: `j${index}`, attempt: 2, name, status, ...times }) }
    }),
  ])
  await explain(api, caller)
  const report = await sendReport(api, caller, RUN_ID, { ...TEST_REPORT, attempt: 2 })
  await uploadArtifact(api, caller, report as never, 'dist/shop.js', 'export {}')
  await sendReport(api, caller, RUN_ID, { job: { name: 'lint' }, attempt: 2, summary: 'No problems.' })
  await sendReport(api, caller, RUN_ID, { job: { name: 'first' }, attempt: 1, summary: 'Of the first attempt.' })
  return source
}

/** What background jobs read from the code host. */
async function explain({ services: { sql } }: TestApi, { orgId }: Caller): Promise<void> {
  await sql`
    insert into workflow_files (org_id, provider, repository_id, blob, job_dependencies, deploys)
    values (${orgId}, 'github', '1001', 'blob', ${sql.json(DEPENDENCIES)}, true)`
  await sql`
    update provider_runs
    set workflow_blob = 'blob', failure_attempt = 2, failure_category = 'test', failure_excerpt = ${EXCERPT}
    where org_id = ${orgId}
      and run_id = ${RUN_ID}`
  await sql`
    insert into provider_run_scores (org_id, run_id, failure_recurrence, anomaly_reasons, importance_score)
    values (${orgId}, ${RUN_ID}, 3, '{slower_than_usual}', 0.8)`
}

const TEST_REPORT = {
  job: { name: 'test (ubuntu)', matrix: { os: 'ubuntu' }, runner: 'runner-7' },
  summary: '## Totals\n\n| Suite | Passed |\n|---|---|\n| cart | 41 |\n\n- [x] types\n- [ ] end to end',
  attestations: [
    {
      kind: 'test-results',
      name: 'unit',
      data: {
        ...{ passed: 41, failed: 1, skipped: 2, errors: 0, durationSeconds: 12.5 },
        failures: [
          { suite: 'cart', name: 'sums up two lines', message: 'Expected: 3\nReceived: 4\n  at cart.test.ts:17' },
        ],
      },
    },
    { kind: 'coverage', name: 'unit', data: { lines: 81.25, branches: 70, threshold: 80 } },
    { kind: 'scan', name: 'code', data: { tool: 'semgrep', critical: 0, high: 2, medium: 5, low: 0 } },
    { kind: 'sbom', name: 'image', data: { format: 'cyclonedx', components: 1234 } },
    { kind: 'custom', name: 'licences', status: 'warn', data: { unknown: ['left-pad'] } },
  ],
}
