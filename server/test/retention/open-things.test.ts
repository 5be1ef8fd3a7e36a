import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../../src/platform/clock.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { sendReport, uploadArtifact } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { insertDeployment, SBOM } from '../support/furnish.ts'
import { createPerson, requestAs } from '../support/people.ts'
import { uploadReport } from '../support/reports.ts'
import { link } from '../support/repositories.ts'
import { placedResult, sarif } from '../support/sarif.ts'
import { dismissAll } from '../support/triage.ts'

/** The retention of enterprise is 1,095 days. */
const LATER = 1200 * DAY_MS

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function listed(caller: Caller, path: string) {
  const { status, body, text } = await api.request('GET', `/v1/${path}`, { key: caller.key })
  assert.equal(status, 200, text)
  return body.data
}

test('old findings that are open are in lists with every filter, and those that are over are not', async () => {
  const caller = await api.caller()
  const [open, over] = [placedResult({ rule: 'R1', file: 'src/a.ts' }), placedResult({ rule: 'R2', file: 'src/b.ts' })]
  await uploadReport(api, caller, sarif([open, over]), { category: 'sast' })
  await uploadReport(api, caller, sarif([open]), { category: 'sast' })
  const [{ id, issue_id }] = await listed(caller, 'security/findings?state=open')
  api.clock.advance(LATER)
  const filters = [
    '',
    'severity=medium',
    'repository=acme/app',
    'scanner=Linter',
    'category=sast',
    'path=src/',
    'state=open',
  ]
  const named = [`issue_id=${issue_id}`, 'path=src/&kind=code', 'repository=acme/app&severity=medium']
  for (const filter of [...filters, ...named]) {
    const found = await listed(caller, `security/findings?${filter}`)
    assert.deepEqual(
      found.map((finding: { id: string }) => finding.id),
      [id],
      filter,
    )
  }
  const sorts = ['newest', 'severity', 'epss'].map((sort) => `sort=${sort}`)
  for (const query of [...sorts, 'status=open', 'repository=acme/app'])
    assert.equal((await listed(caller, `security/issues?${query}`)).length, 1, query)
  assert.deepEqual(await listed(caller, 'security/findings?state=fixed'), [])
  const asked = '2020-01-01T00:00:00Z'
  assert.deepEqual(await listed(caller, `security/findings?first_seen_since=${asked}`), [])
  assert.deepEqual(await listed(caller, `security/issues?created_since=${asked}`), [])
})

test('a dismissal in effect, the stream and the last report stay in lists; what ended before does not', async () => {
  const caller = await api.caller()
  await uploadReport(api, caller, sarif([placedResult({})]))
  const last = await uploadReport(api, caller, sarif([placedResult({ line: 2 })]))
  await dismissAll(api, caller.orgId)
  api.clock.advance(LATER)
  const ada = await createPerson(api, { ...caller, role: 'security' })
  const triages = async () => (await requestAs(api, ada, 'GET', '/security/triage')).body.data
  const [dismissal] = await triages()
  assert.ok(dismissal)
  assert.equal((await listed(caller, 'security/findings?state=dismissed')).length, 1)
  assert.deepEqual(
    (await listed(caller, 'security/uploads')).map(({ id }: { id: string }) => id),
    [last.id],
  )
  assert.equal((await listed(caller, 'security/streams')).length, 1)
  await requestAs(api, ada, 'POST', `/security/triage/${dismissal.id}/undo`)
  assert.equal((await triages()).length, 1)
  api.clock.advance(LATER)
  const bob = await createPerson(api, { ...caller, role: 'security' })
  assert.deepEqual((await requestAs(api, bob, 'GET', '/security/triage')).body.data, [])
})

test('a present component and where it is stay in lists, and its bill of materials can be read', async () => {
  const caller = await api.caller()
  const { id: upload } = await uploadReport(api, caller, SBOM)
  api.clock.advance(LATER)
  const [{ id }] = await listed(caller, 'components')
  assert.equal((await listed(caller, `components/${id}/occurrences`)).length, 1)
  assert.equal((await api.request('GET', `/v1/sboms/${upload}/document`, { key: caller.key })).status, 200)
})

test('a result that is evaluated stays in the list, and a repository however long ago it was linked', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app' })
  const at = api.clock.now()
  const result = {
    org_id: caller.orgId,
    policy_id: 'p',
    policy_name: 'P',
    status: 'passing',
    created_at: at,
    updated_at: at,
  }
  await sql`insert into compliance_results ${sql({ ...result, id: 'stopped', repository: 'acme/old', evaluated_at: at })}`
  api.clock.advance(LATER)
  const evaluated_at = api.clock.now()
  await sql`insert into compliance_results ${sql({ ...result, id: 'present', repository: 'acme/app', evaluated_at })}`
  assert.deepEqual(
    (await listed(caller, 'compliance/results')).map(({ id }: { id: string }) => id),
    ['present'],
  )
  const ada = await createPerson(api, { ...caller, role: 'security' })
  assert.equal((await requestAs(api, ada, 'GET', '/repositories')).body.data.length, 1)
})

test('an old run that is open has its reports and artifacts, and an old waiting deployment can be answered', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  const run = await createRun(api, caller)
  const report = await sendReport(api, caller, run.id)
  const artifact = await uploadArtifact(api, caller, report as never, 'dist/app.js', 'bytes')
  await insertDeployment(api, caller)
  await sql`
    update deployments
    set status = 'pending_approval', custom_rule_state = 'pending', gated = true
    where org_id = ${caller.orgId}`
  await sql`update ci_runs set deadline_at = 'infinity' where org_id = ${caller.orgId}`
  api.clock.advance(LATER)
  const ada = await createPerson(api, { ...caller, role: 'org_admin' })
  for (const list of ['reports', 'artifacts'])
    assert.equal((await requestAs(api, ada, 'GET', `/runs/${run.id}/${list}`)).body.data.length, 1, list)
  assert.equal((await requestAs(api, ada, 'GET', `/artifacts/${artifact}/download`)).status, 200)
  const board = (await requestAs(api, ada, 'GET', '/deployments/board')).body.data
  assert.equal(board.waiting.length, 1)
  const body = { reason: 'The change was reviewed.' }
  const { status, text } = await requestAs(api, ada, 'POST', '/deployments/deployment_1/reject', body)
  assert.equal(status, 200, text)
})
