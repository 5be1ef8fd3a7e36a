import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assignPlan } from '../../src/access/manage-access.ts'
import { DAY_MS } from '../../src/platform/clock.ts'
import type { Tx } from '../../src/platform/db/sql.ts'
import { type Due, listDue } from '../../src/retention/expiry.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { furnish } from '../support/furnish.ts'
import { plansOf } from '../support/query-plans.ts'

/** The index by which the rows of each kind are found, however many others there are. */
const INDEXES: Record<string, RegExp> = {
  sboms: /^sboms_by_creation$/,
  deployments: /^deployments_by_creation$/,
  deployment_runs: /^deployment_runs_by_creation$/,
  deployment_gate_requests: /^deployment_gate_requests_by_time$/,
  runs: /^ci_runs_by_creation$/,
  uploads: /^security_uploads_by_status$/,
  alerts: /^security_alerts_by_creation$/,
  deployment_reviews: /^deployment_reviews_by_time$/,
  findings: /^findings_(gone|by_identity|by_stream)$/,
  finding_streams: /^finding_streams_unseen$/,
  vex_documents: /^vex_documents_by_report$/,
  issue_regroup_findings: /^issue_regroup_findings_pkey$/,
  issue_regroup_issues: /^issue_regroup_issues_pkey$/,
  issue_regroups: /^issue_regroups_pkey$/,
  triages: /^triages_pkey$/,
  issues: /^security_issues_pkey$/,
  codehost_calls: /^codehost_calls_ended$/,
  statements: /^statements_by_issue$/,
  issue_days: /^issue_days_pkey$/,
  pull_requests: /^pull_requests_by_update$/,
  pull_request_reviews: /^pull_request_reviews_by_time$/,
  pushes: /^pushes_by_time$/,
  commit_checks: /^commit_checks_(un)?ended$/,
  run_days: /^run_days_pkey$/,
  delivery_days: /^delivery_days_pkey$/,
  events: /^events_pkey$/,
  audit_entries: /^audit_entries_by_time$/,
}

let api: TestApi
let caller: Caller
before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  await furnish(api, caller)
  await assignPlan(api.services, caller.slug, 'team')
  await api.services.sql`analyze`
})
after(() => api?.close())

/** Those that are not removed in the order of a time. */
const WITHOUT_TIME = [
  'triages',
  'issues',
  'findings',
  'issue_regroup_findings',
  'issue_regroup_issues',
  'issue_regroups',
]

async function indexesOf({ expiring }: Due): Promise<string[]> {
  const at = api.clock.now()
  const batch = { org_id: caller.orgId, before: new Date(at.getTime() - DAY_MS), at, limit: 200 }
  const from = WITHOUT_TIME.includes(expiring.kind) ? null : at
  const nodes = await plansOf(api, async (sql) => {
    // Tables of a test are small, and PostgreSQL would read them as a whole.
    await sql`select set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false)`
    await expiring.remove(sql as unknown as Tx, { ...batch, from })
  })
  return nodes.flatMap((node) => node['Index Name'] ?? [])
}

for (const due of listDue({ org_id: '', before: new Date(), at: new Date() }, 1)) {
  const { kind } = due.expiring
  test(`expired ${kind} are found by an index`, async () => {
    const index = INDEXES[kind]
    assert.ok(index, `${kind} has no index here`)
    const used = await indexesOf(due)
    assert.ok(
      used.some((name) => index.test(name)),
      used.join(', '),
    )
  })
}

test('what refers to a deleted row is found by an index', async () => {
  const missing = await api.services.sql<{ reference: string }[]>`
    select reference.conrelid::regclass || '.' || reference.conname as reference
    from pg_constraint reference
    join pg_class parent on parent.oid = reference.confrelid
    where reference.contype = 'f'
      and parent.relname in (
        'ci_runs', 'ci_reports', 'deployments', 'findings', 'security_issues', 'security_alerts', 'triages',
        'security_uploads', 'finding_streams'
      )
      and not exists (
        select from pg_index index
        where index.indrelid = reference.conrelid
          and index.indpred is null
          and (index.indkey::int2[])[0:array_length(reference.conkey, 1) - 1] @> reference.conkey
      )`
  assert.deepEqual(
    missing.map(({ reference }) => reference),
    [],
  )
})
