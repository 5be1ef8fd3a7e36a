import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyPullRequest } from '../../src/ci/changes/apply-change.ts'
import { listWithoutDetails } from '../../src/ci/provider-runs/run-details.store.ts'
import { deleteUnscored } from '../../src/ci/provider-runs/run-history.store.ts'
import type { HostPullRequest } from '../../src/codehosts/host-change.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import { applyRuns, minutes } from '../support/provider-runs.ts'
import { executedBy } from '../support/statement-work.ts'
import { disableAutovacuum } from '../support/unanalysed.ts'

const RUNS = 200

/** How many rows a statement may handle for each run of the organization. */
const ROWS_PER_RUN_MAX = 30

function commitOf(number: number): string {
  return number.toString(16).padStart(40, 'a')
}

function runOf(number: number): HostRun {
  return hostRun({ id: String(9000 + number), number, commit: { sha: commitOf(number), message: null } })
}

function pullOf(number: number): HostPullRequest {
  return {
    repository: hostRepository(),
    number,
    title: 'Fix the cart',
    url: null,
    author: null,
    state: 'open',
    draft: false,
    head: { ref: 'cart', sha: commitOf(number), repository_id: hostRepository().id },
    base: { ref: 'main', sha: 'e'.repeat(40) },
    merge_commit_sha: null,
    merged_by_queue: false,
    merged_by: null,
    created_at: minutes(0),
    merged_at: null,
    closed_at: null,
    updated_at: minutes(0),
  }
}

/** A new organization with so many runs, each of a pull request. */
async function connectWithRuns(api: TestApi, count: number) {
  const { orgId } = await api.caller()
  const source = await insertConnection(api.services.sql, orgId)
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  await api.services.sql.begin(async (tx) => {
    for (const number of numbers) await applyPullRequest(api.services, tx, source, pullOf(number))
  })
  await applyRuns(api.services, source, ...numbers.map(runOf))
  return source
}

test('runs of an organization that is newer than the statistics handle a bounded number of rows', async (context) => {
  const api = await startTestApi()
  context.after(() => api.close())
  await disableAutovacuum(api)
  await connectWithRuns(api, 3)
  await api.services.sql`analyze`
  const source = await connectWithRuns(api, RUNS)
  const { provider, id: repository_id } = hostRepository()
  const key = { org_id: source.org_id, provider, repository_id }
  const statements = await executedBy(api, async ({ services }) => {
    await applyRuns(services, source, runOf(RUNS + 1))
    assert.equal((await listWithoutDetails(services.sql, key, RUNS)).length, RUNS)
    await services.sql.begin((tx) => deleteUnscored(tx, key, RUNS))
  })
  for (const { rows, text } of statements) {
    assert.ok(rows <= ROWS_PER_RUN_MAX * RUNS, `${rows} rows are handled by ${text}`)
  }
})
