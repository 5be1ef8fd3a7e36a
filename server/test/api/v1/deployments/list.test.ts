import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { Deployment } from '../../../../src/deployments/deployment.schema.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { idsInNoOrder, testListContract } from '../../../support/list-contract.ts'

const LIST = '/v1/deployments'
const NOW = '2026-03-04T05:06:07.890Z'
const TEAM_RETAINED_SINCE = '2025-12-04T05:06:07.890Z'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

testListContract({
  path: LIST,
  limitDefault: 50,
  limitMax: 100,
  hasWindow: true,
  plan: 'team',
  retentionDays: 90,
  filters: [{ environment: 'staging' }, { environment: 'production' }],
  store: async (to, caller, count) => {
    const created_at = to.clock.now().toISOString()
    for (const id of idsInNoOrder(count)) await insertDeployment(caller, { id, created_at }, to)
  },
  end: async ({ services: { sql } }, { orgId }) => {
    await sql`update deployments set status = 'rejected', updated_at = created_at where org_id = ${orgId}`
  },
})

test('getDeployment and listDeployments return every stored field', async () => {
  const caller = await api.caller()
  await insertDeployment(caller, FULL)
  const expected = { ...FULL, org_id: caller.orgId, live: null, exposure: 'unknown' }
  const { body } = await get(caller, `${LIST}/${FULL.id}`)
  assert.deepEqual(body, { data: expected })
  // Nobody has marked it or named subjects.
  const { marks: _, subjects: __, ...fields } = Deployment.properties
  assert.deepEqual(Object.keys(body.data), Object.keys(fields))
  assert.ok(Check(Deployment, body.data))
  assert.deepEqual((await get(caller, LIST)).body.data, [expected])
})

test('missing values are null or an empty array', async () => {
  const caller = await api.caller()
  await insertDeployment(caller)
  const [deployment] = (await get(caller, LIST)).body.data
  assert.ok(Check(Deployment, deployment))
  assert.deepEqual([deployment.bypass, deployment.override, deployment.policy_evaluation], [null, null, null])
  assert.deepEqual([deployment.reviews, deployment.approvals, deployment.required_reviewers], [[], [], []])
})

/** Each filter with a matching value and similar values that must not match. */
const FILTERS: [parameter: string, column: string, value: string, others: string[]][] = [
  ['status', 'status', 'success', ['failure']],
  ['environment', 'environment', 'production', ['Production', 'production-eu', 'prod%']],
  ['repository', 'repository_full_name', 'acme/api', ['Acme/api', 'acme/api2', 'acme/_pi']],
  ['workflow', 'workflow_name', 'Deploy & run', ['deploy & run', 'Deploy']],
  ['workflow_path', 'workflow_path', '.ci/deploy.yml', ['.ci/deploy.yaml', 'deploy.yml']],
  ['run_id', 'pipeline_run_id', 'gh_run_1', ['gh_run_10', 'gh_run_']],
  ['commit_sha', 'commit_sha', 'ab'.repeat(20), ['cd'.repeat(20)]],
]

for (const [parameter, column, value, others] of FILTERS) {
  test(`${parameter} matches exact values only`, async () => {
    const caller = await api.caller()
    await insertDeployment(caller, { id: 'same', [column]: value })
    for (const [at, other] of others.entries()) await insertDeployment(caller, { id: `other-${at}`, [column]: other })
    assert.deepEqual(await listIds(caller, `?${parameter}=${encodeURIComponent(value)}`), ['same'])
  })
}

test('recovered tells whether one from the same source has succeeded since', async () => {
  const caller = await api.caller()
  const failure = { status: 'failure', environment: 'production', provider: 'github' }
  const at = (minute: number) => ({ created_at: `2026-03-01T00:0${minute}:00.000Z` })
  await insertDeployment(caller, { id: 'mended', ...failure, ...at(1) })
  await insertDeployment(caller, { id: 'other-source', ...failure, status: 'success', provider: 'gitlab', ...at(4) })
  await insertDeployment(caller, { id: 'green', ...failure, status: 'success', ...at(2) })
  await insertDeployment(caller, { id: 'red', ...failure, ...at(3) })
  assert.deepEqual(await listIds(caller, '?status=failure&recovered=false'), ['red'])
  assert.deepEqual(await listIds(caller, '?status=failure&recovered=true'), ['mended'])
})

test('count=true counts what matches on all pages, whatever the limit', async () => {
  const caller = await api.caller()
  for (const id of ['a', 'b', 'c']) await insertDeployment(caller, { id, environment: 'production' })
  await insertDeployment(caller, { id: 'd', environment: 'staging' })
  const { body } = await get(caller, `${LIST}?environment=production&limit=1&count=true`)
  assert.deepEqual([body.data.length, body.meta.matching], [1, { count: 3, exact: true }])
  const next = await get(caller, `${LIST}?environment=production&limit=1&cursor=${body.next_cursor}`)
  assert.deepEqual([next.status, next.body.meta.matching], [200, undefined])
})

test('the longest name of an environment on a code host can be filtered by', async () => {
  const caller = await api.caller()
  const environment = 'e'.repeat(255)
  await insertDeployment(caller, { id: 'same', environment })
  assert.deepEqual(await listIds(caller, `?environment=${environment}`), ['same'])
})

test('combined filters return deployments that match all of them', async () => {
  const caller = await api.caller()
  const all = Object.fromEntries(FILTERS.map(([, column, value]) => [column, value]))
  await insertDeployment(caller, { id: 'all', ...all })
  for (const [, column, , others] of FILTERS)
    await insertDeployment(caller, { id: column, ...all, [column]: others[0] })
  const query = new URLSearchParams(Object.fromEntries(FILTERS.map(([parameter, , value]) => [parameter, value])))
  assert.deepEqual(await listIds(caller, `?${query}`), ['all'])
})

test("404, and not listed, for a deployment past the plan's retention", async () => {
  const caller = await api.caller({ plan: 'team' })
  await insertDeployment(caller, { id: 'kept', created_at: TEAM_RETAINED_SINCE })
  const created_at = '2025-12-04T05:06:07.889Z'
  await insertDeployment(caller, { id: 'beyond', created_at, updated_at: created_at, status: 'rejected' })
  const { body } = await get(caller, `${LIST}?since=2025-01-01T00:00:00Z`)
  assert.deepEqual(idsOf(body), ['kept'])
  assert.deepEqual(body.meta, { since: TEAM_RETAINED_SINCE, until: NOW, retention_clamped: true })
  assert.equal((await get(caller, `${LIST}/kept`)).status, 200)
  assertError(await get(caller, `${LIST}/beyond`), 404, 'not_found')
})

test('404, and not listed, for a deployment of another organization', async () => {
  const [owner, stranger] = [await api.caller(), await api.caller()]
  await insertDeployment(owner, { id: 'same', version: 'theirs' })
  await insertDeployment(owner, { id: 'foreign' })
  await insertDeployment(stranger, { id: 'same', version: 'ours' })
  assert.deepEqual(await listIds(stranger), ['same'])
  assert.equal((await get(stranger, `${LIST}/same`)).body.data.version, 'ours')
  assertError(await get(stranger, `${LIST}/foreign`), 404, 'not_found')
})

const WRONG: [parameter: string, value: string][] = [
  ['status', 'deployed'],
  ['environment', ''],
  ['environment', '%00'],
  ['environment', 'e'.repeat(256)],
  ['repository', 'api'],
  ['repository', 'acme/%00'],
  ['workflow', '%00'],
  ['workflow_path', '%00'],
  ['enviroment', 'production'],
]

for (const [parameter, value] of WRONG) {
  test(`400 names the unknown or invalid parameter: ${parameter}=${value.slice(0, 20)}`, async () => {
    assertInvalid(await get(await api.caller(), `${LIST}?${parameter}=${value}`), `/query/${parameter}`)
  })
}

test('400 for a malformed id', async () => {
  assertInvalid(await get(await api.caller(), `${LIST}/a%20b`), '/path/id')
})

const FULL = {
  id: 'deployment_01',
  provider: 'github',
  repository: 'api',
  repository_full_name: 'acme/api',
  environment: 'production',
  status: 'in_progress',
  workflow_name: 'Deploy',
  workflow_path: '.ci/deploy.yml',
  github_run_id: 12_345_678_901,
  pipeline_run_id: 'run_01',
  job_id: '98765',
  attempt: 2,
  previous_attempt_id: 'deployment_00',
  superseded_by_id: 'deployment_02',
  branch: 'main',
  commit_sha: 'a'.repeat(40),
  commit_message: 'Fix "it"',
  release_name: 'v1.2.3',
  version: '1.2.3',
  author: 'ada',
  author_avatar_url: 'https://code.example/ada.png',
  html_url: 'https://code.example/acme/api/deployments/1',
  callback_url: 'https://code.example/callback/1',
  environment_url: 'https://api.example',
  protection_rule_type: 'custom',
  protection_rule_types: ['custom', 'required_reviewers'],
  gated: true,
  required_reviewers: ['ada', 'grace'],
  required_reviewer_teams: ['release'],
  reviewers_state: 'pending',
  custom_rule_state: 'pending',
  custom_rule_awaiting: 'manual_decision_required',
  deployed_at: '2026-03-02T01:02:03.004Z',
  rollback_at: '2026-03-03T01:02:03.004Z',
  self_approved: false,
  awaiting: [],
  created_at: '2026-03-01T02:00:00.000Z',
  updated_at: '2026-03-03T02:00:00.000Z',
  reviews: [
    { reviewer: 'grace', avatar_url: null, state: 'approved', comment: 'Go', reviewed_at: '2026-03-02T00:00:00.000Z' },
  ],
  approvals: [
    {
      user_id: 'user-1',
      email: 'ada@acme.example',
      display_name: 'Ada',
      decision: 'approved',
      principal: 'user',
      gates: ['customRule'],
      provider_account: { provider: 'github', login: 'ada' },
      at: '2026-03-02T00:00:00.000Z',
      note: null,
    },
  ],
  external_custom_rules: [{ app_id: '77', slug: 'other-gate' }],
  bypass: {
    at: '2026-03-02T00:00:00.000Z',
    from: 'pending_approval',
    to: 'in_progress',
    actor: 'ada',
    gates: ['customRule'],
    policies: ['policy_01'],
  },
  override: {
    at: '2026-03-02T00:00:00.000Z',
    user_id: 'user-1',
    email: 'ada@acme.example',
    display_name: 'Ada',
    reason: 'An outage needs this now.',
    self_override: false,
    gates: ['customRule'],
    evaluation_id: 'evaluation_01',
    evaluated_at: '2026-03-01T23:00:00.000Z',
    policies: [
      {
        id: 'policy_01',
        name: 'Tested',
        version: 3,
        decision: 'deny',
        rules: [{ rule: 'tests', name: 'Tests pass', status: 'fail', reason: '2 failed' }],
      },
    ],
  },
  policy_evaluation: {
    evaluation_id: 'evaluation_01',
    at: '2026-03-01T23:00:00.000Z',
    decision: 'approve',
    answered: 'approved',
    policies: [{ id: 'policy_01', name: 'Tested', version: 3, mode: 'enforce', decision: 'approve' }],
  },
}

/** Inserts a deployment with the required columns and the given fields. */
async function insertDeployment({ orgId }: Caller, fields: Partial<typeof FULL> = {}, to = api): Promise<void> {
  const { sql } = to.services
  const row = {
    id: 'deployment',
    repository: 'api',
    repository_full_name: 'acme/api',
    environment: 'staging',
    status: 'pending_approval',
    attempt: 1,
    commit_sha: 'a'.repeat(40),
    gated: true,
    created_at: '2026-03-04T00:00:00.000Z',
    updated_at: '2026-03-04T00:00:00.000Z',
    ...fields,
    reviews: sql.json(fields.reviews ?? []),
    approvals: sql.json(fields.approvals ?? []),
    external_custom_rules: sql.json(fields.external_custom_rules ?? []),
    bypass: fields.bypass ? sql.json(fields.bypass) : null,
    override: fields.override ? sql.json(fields.override) : null,
    policy_evaluation: fields.policy_evaluation ? sql.json(fields.policy_evaluation) : null,
  }
  await sql`insert into deployments ${sql({ ...row, org_id: orgId })}`
}

function get({ key }: Caller, path: string) {
  return api.request('GET', path, { key })
}

async function listIds(caller: Caller, query = ''): Promise<string[]> {
  return idsOf((await get(caller, LIST + query)).body)
}

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id)
}
