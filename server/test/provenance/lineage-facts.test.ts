import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { findPromotionPath } from '../../src/deployments/promotion.store.ts'
import { MINUTE_MS } from '../../src/platform/clock.ts'
import { type Db, getSqlState } from '../../src/platform/db/sql.ts'
import { getPathFacts } from '../../src/provenance/statements/lineage-statement.ts'
import { toPromotionPathContent } from '../../src/provenance/statements/promotion-path.ts'
import { getSummaryFacts, toSummaryContent } from '../../src/provenance/statements/verification-summary.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { mergedRecord } from '../support/change-records.ts'
import { sendReport, uploadArtifact } from '../support/ci-reports.ts'
import { createRun, patchRun, postRun } from '../support/ci-runs.ts'
import { ON_ONE_SERVER } from '../support/citus.ts'
import { answer, configureGate, openGate } from '../support/gates.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'

const POLICY = `
name: Check
mode: enforce
bindings: { environments: ['*'] }
rules:
  - rule: check
    name: The check passes
    expression: 'false'
    trust: any
    reason: The check fails.`

const RECORD = { ...mergedRecord(), deviations: [] }
let api: TestApi
let caller: Caller
let deploymentId: string

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  await configureGate(api, caller, { environment: '*' })
  await apply(api, caller, POLICY)
  await deploy('staging')
  deploymentId = await deploy('production')
})
after(() => api?.close())

/** Deploys the second attempt of a new run, with an artifact and an override. */
async function deploy(environment: string): Promise<string> {
  const fields = { external_run_id: environment, actor: 'ada', ref: 'refs/heads/main' }
  const { id: run_id } = await createRun(api, caller, fields)
  await patchRun(api, caller, run_id, { status: 'failure' })
  await postRun(api, caller, { ...fields, attempt: 2 })
  const { report_id } = await sendReport(api, caller, run_id)
  await uploadArtifact(api, caller, { run_id, report_id }, `${environment}.tgz`, environment)
  const { deployment_id } = await openGate(api, caller, { run_id, environment, attempt: 2 })
  api.clock.advance(MINUTE_MS)
  await answer(api, caller, deployment_id, 'approve')
  await patchRun(api, caller, run_id, { status: 'success' })
  await drainQueue(api)
  const { sql } = api.services
  await sql`
    update deployments
    set reviews = ${sql.json([{ reviewer: 'grace', state: 'approved', comment: 'fine', reviewed_at: '2026-03-01' }])},
      bypass = ${sql.json({ at: 'then', from: 'pending_approval', to: 'success', actor: 'eve', gates: [], policies: [] })}
    where id = ${deployment_id}`
  return deployment_id
}

const TABLES = [
  ...['deployments', 'required_gates', 'deployment_answers', 'ci_runs', 'ci_run_attempts', 'ci_artifacts'],
  ...['ci_reports', 'policy_versions'],
]

type Column = { table_name: string; column_name: string; data_type: string }

/** The columns of the tables that promotion paths are read from. */
async function listColumns(): Promise<Column[]> {
  return api.services.sql<Column[]>`
    select table_name, column_name, data_type
    from information_schema.columns
    where table_schema = 'public'
      and table_name = any(${TABLES})
    order by table_name, column_name`
}

/** Other values of the same type, in SQL. Constraints allow the first or a later one. */
const OTHERS: Record<string, string[]> = {
  text: [
    "coalesce(it, '') || 'x'",
    "translate(it, '0123456789abcdef', '123456789abcdef0')",
    "'failure'",
    "'untrusted'",
  ],
  integer: ['it + 1', '1'],
  smallint: ['it + 1', '1'],
  date: ['it + 1'],
  bigint: ['it + 1'],
  boolean: ['not it'],
  uuid: ['md5(it::text)::uuid'],
  bytea: ['sha256(it)'],
  ARRAY: ["array_append(it, 'x')"],
  'timestamp with time zone': ["coalesce(it, '2026-01-01') + interval '1 second'", "it - interval '1 second'", 'null'],
  jsonb: [`replace(it::text, ': "', ': "x')::jsonb`],
}

type Stated = NonNullable<Awaited<ReturnType<typeof readStated>>>

/** What the statements state now, and what identifies them. */
async function readStated(db: Db) {
  const read = await findPromotionPath(db, { org_id: caller.orgId, id: deploymentId }, api.clock.now())
  if (read === null) return null
  const inputs = [{ uri: 'https://shiplock.example', digest: { sha256: '0'.repeat(64) } }]
  const summary = { deployment: read, record: RECORD, inputs, issuedAt: api.clock.now() }
  return {
    path: { facts: getPathFacts(read, null), content: toPromotionPathContent(read, null) },
    summary: { facts: getSummaryFacts(read, inputs), content: toSummaryContent(summary) },
  }
}

/** What is stated after changes of a column in all rows, each of which is rolled back. */
async function readChanged({ table_name, column_name, data_type }: Column): Promise<Stated[]> {
  const others = OTHERS[data_type]
  assert.ok(others, data_type)
  const rollback = new Error('rollback')
  const stated: Stated[] = []
  for (const other of others) {
    const changing = api.services.sql.begin(async (tx) => {
      await tx.unsafe('set local session_replication_role = replica')
      await tx.unsafe(`update ${table_name} set "${column_name}" = ${other.replace(/\bit\b/, `"${column_name}"`)}`)
      const read = await readStated(tx)
      if (read !== null) stated.push(read)
      throw rollback
    })
    await changing.catch((error) => {
      if (error !== rollback && getSqlState(error) === null) throw error
    })
  }
  return stated
}

test(
  'any change of a stored fact changes what identifies a statement, unless the statement is the same',
  ON_ONE_SERVER,
  async () => {
    const before = await readStated(api.services.sql)
    assert.ok(before)
    const changing: string[] = []
    for (const column of await listColumns()) {
      const name = `${column.table_name}.${column.column_name}`
      for (const { path, summary } of await readChanged(column)) {
        const isSame = isDeepStrictEqual(path.content, before.path.content)
        assert.equal(isDeepStrictEqual(path.facts, before.path.facts), isSame, name)
        if (isDeepStrictEqual(summary.facts, before.summary.facts))
          assert.deepEqual(summary.content, before.summary.content, name)
        if (!isSame) changing.push(name)
      }
    }
    for (const name of STATED) assert.ok(changing.includes(name), `${name} is stated`)
    assert.deepEqual(await readStated(api.services.sql), before)
  },
)

/** One of each part of a path. */
const STATED = [
  ...['deployments.succeeded_at', 'deployments.policy_evaluation', 'deployments.policy_rules', 'deployments.override'],
  ...[
    'deployments.self_approved',
    'deployments.commit_sha',
    'deployments.reviews',
    'deployments.bypass',
    'required_gates.approved_at',
  ],
  ...['deployment_answers.reason', 'deployment_answers.principal_id', 'policy_versions.content_hash'],
  ...['ci_runs.actor', 'ci_runs.trust', 'ci_run_attempts.completed_at', 'ci_artifacts.sha256', 'ci_artifacts.path'],
]
