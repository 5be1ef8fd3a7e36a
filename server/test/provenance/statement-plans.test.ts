import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findPromotionPath } from '../../src/deployments/promotion.store.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import {
  findLineageDeployment,
  findVerifiedDeployment,
} from '../../src/provenance/statements/deployment-statement.store.ts'
import { findIssuedChange } from '../../src/provenance/statements/statement.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createRun } from '../support/ci-runs.ts'
import { insertChanges } from '../support/many-changes.ts'
import { plansOf } from '../support/query-plans.ts'

const ROWS = 10_000
const DEPLOYMENTS_OF_COMMIT = 1000
/** A deployment with its run, its earlier deployment, its change and its statements. */
const ROWS_READ_MAX = 6
const TABLES = ['deployments', 'ci_runs', 'changes', 'change_commits', 'chain_links', 'statements']

let api: TestApi
let caller: Caller

/**
 * Changes of one repository with their runs, deployments and statements. One commit was deployed
 * often.
 */
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const { sql } = api.services
  for (const table of TABLES) await sql`alter table ${sql(table)} set (autovacuum_enabled = off)`
  await createRun(api, caller)
  await insertChanges(api, caller, ROWS)
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await insertRuns(tx as unknown as Sql)
    await insertDeployments(tx as unknown as Sql)
    await insertStatements(tx as unknown as Sql)
  })
})
after(() => api?.close())

/** A run of each landed commit. */
async function insertRuns(sql: Sql): Promise<void> {
  await sql`
    insert into ci_runs
    select copy.*
    from ci_runs run
    join (
      select org_id, change_id, sha, row_number() over (order by change_id, sha) as nth
      from change_commits
    ) listed on listed.org_id = run.org_id
    cross join lateral jsonb_populate_record(run, jsonb_build_object(
      'id', 'run_' || listed.change_id || listed.sha, 'external_run_id', listed.change_id || listed.sha,
      'commit_sha', listed.sha, 'day', run.day - listed.nth::int
    )) copy
    where run.org_id = ${caller.orgId}
      and listed.change_id like '%\\_%\\_%'`
}

async function insertDeployments(sql: Sql): Promise<void> {
  const at = api.clock.now()
  await sql`
    insert into deployments (
      org_id, id, provider, host, host_id, host_updated_at, repository, repository_full_name, repository_id,
      environment, status, attempt, pipeline_run_id, commit_sha, branch, gated, created_at, updated_at, succeeded_at
    )
    select ${caller.orgId}, listed.change_id || '_' || nth, 'github', 'github.com', listed.change_id || '_' || nth,
      ${at}, 'api', 'acme/api', listed.repository_id, 'production', 'success', 1,
      'run_' || listed.change_id || listed.sha, listed.sha, 'main', false, ${at}::timestamptz + nth * interval '1 second',
      ${at}, ${at}
    from change_commits listed
    cross join lateral generate_series(
      1, case when listed.change_id like '%\\_7' then ${DEPLOYMENTS_OF_COMMIT + 1}::int else 2 end
    ) nth
    where listed.org_id = ${caller.orgId}
      and listed.change_id like '%\\_%\\_%'`
}

async function insertStatements(sql: Sql): Promise<void> {
  await sql`
    insert into statements (org_id, kind, subject_id, facts, keyid, statement_digest, envelope, issued_at)
    select org_id, kind, subject.id, sha256(subject.id::bytea), 'key', 'sha256:', '{}', ${api.clock.now()}
    from (
      select org_id, id, 'change' as kind from changes
      union all select org_id, id, 'lineage' from deployments
      union all select org_id, id, 'verification' from deployments
    ) subject`
}

/** The id of the `nth` copied change. */
async function changeId(nth: number): Promise<string> {
  const [row] = await api.services.sql<[{ id: string }]>`
    select id
    from changes
    where org_id = ${caller.orgId}
      and id like ${`%\\_${nth}`}`
  return row.id
}

const deployment = async () => ({ org_id: caller.orgId, id: `${await changeId(5000)}_2` })

const READS: [title: string, read: (sql: Sql) => Promise<void>][] = [
  [
    'the statement of a change',
    async (sql) => {
      const change = await findIssuedChange(sql, caller.orgId, await changeId(5000))
      assert.ok(change?.hashes && change.statement)
    },
  ],
  [
    'the lineage statement of a deployment',
    async (sql) => {
      const found = await findLineageDeployment(sql, await deployment(), api.clock.now())
      assert.ok(found?.change?.hashes && found.lineage)
    },
  ],
  [
    'the verification of a deployment',
    async (sql) => {
      const found = await findVerifiedDeployment(sql, await deployment(), api.clock.now())
      assert.ok(found?.inputs.change && found.inputs.lineage && found.verification)
    },
  ],
  [
    'a promotion path',
    async (sql) => {
      const { path } = (await findPromotionPath(sql, await deployment(), api.clock.now())) ?? {}
      assert.deepEqual([path?.earlier.items.length, path?.runs.items.length], [1, 1])
    },
  ],
]

async function assertReads(read: (sql: Sql) => Promise<void>, rowsMax: number): Promise<void> {
  const nodes = await plansOf(api, read)
  for (const node of nodes.filter((each) => TABLES.includes(each['Relation Name'] ?? ''))) {
    const what = JSON.stringify({ ...node, Plans: undefined })
    assert.doesNotMatch(node['Node Type'], /Seq Scan/, what)
    const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    assert.ok(rows <= rowsMax, what)
  }
}

for (const [title, read] of READS)
  test(`where nothing was analysed, ${title} reads only its own rows through indexes`, () =>
    assertReads(read, ROWS_READ_MAX))

for (const [title, read] of READS)
  test(`in analysed tables, ${title} reads only its own rows through indexes`, async () => {
    await api.services.sql`analyze`
    await assertReads(read, ROWS_READ_MAX)
  })

test('the path of a commit that was deployed 1,000 times before reads these deployments once', async () => {
  const key = { org_id: caller.orgId, id: `${await changeId(7)}_${DEPLOYMENTS_OF_COMMIT + 1}` }
  await assertReads(async (sql) => {
    const read = await findPromotionPath(sql, key, api.clock.now())
    assert.deepEqual([read?.path.earlier.items.length, read?.path.earlier.omitted], [DEPLOYMENTS_OF_COMMIT, 0])
  }, DEPLOYMENTS_OF_COMMIT + 1)
})
