import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../../../../src/platform/clock.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { uploadReport } from '../../../support/reports.ts'
import { responseChecker } from '../../../support/response-schema.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function get(caller: Caller, path: string) {
  return api.request('GET', `/v1/security/${path}`, { key: caller.key })
}

for (const list of ['findings', 'issues'] as const) {
  test(`200 with the item of the list: ${list}`, async () => {
    const caller = await api.caller()
    await uploadReport(api, caller, sarif([sarifResult('one'), sarifResult('other')]))
    const check = await responseChecker(api)
    const { body } = await get(caller, list)
    assert.equal(body.data.length, 2)
    for (const item of body.data) {
      const answer = await get(caller, `${list}/${item.id}`)
      assert.deepEqual([answer.status, answer.body], [200, { data: item }])
      check(`/v1/security/${list}/{id}`, '200', answer.body)
    }
  })

  test(`404 not_found for an unknown id, and for one beyond the data retention: ${list}`, async () => {
    const caller = await api.caller({ plan: 'business' })
    await uploadReport(api, caller, sarif([sarifResult('one')]))
    const [{ id }] = (await get(caller, list)).body.data
    assertError(await get(caller, `${list}/${NOBODY}`), 404, 'not_found')
    assertInvalid(await get(caller, `${list}/1`), '/path/id')
    const { retention_days } = api.services.plans.get('business') ?? assert.fail()
    const table = list === 'findings' ? 'findings' : 'security_issues'
    const createdAt = new Date(api.clock.now().getTime() - (retention_days + 1) * DAY_MS)
    await api.services.sql`update ${api.services.sql(table)} set created_at = ${createdAt} where id = ${id}`
    assert.equal((await get(caller, `${list}/${id}`)).status, 200, 'it is open')
    await api.services.sql`
      update findings set reported_state = 'fixed', last_seen_at = ${createdAt}, updated_at = ${createdAt} where id = ${id}`
    await api.services.sql`
      update security_issues set status = 'fixed', updated_at = ${createdAt} where id = ${id}`
    assertError(await get(caller, `${list}/${id}`), 404, 'not_found')
  })
}

test('200 for an issue whose findings are not tracked, which is not listed', async () => {
  const caller = await api.caller()
  await uploadReport(api, caller, sarif([sarifResult('one')]), { gitRef: 'topic', tracked: false })
  assert.deepEqual((await get(caller, 'issues')).body.data, [])
  const [{ issue_id }] = (await get(caller, 'findings')).body.data
  assert.equal((await get(caller, `issues/${issue_id}`)).body.data.id, issue_id)
})

test('404 not_found for an issue that was merged, which has no findings', async () => {
  const caller = await api.caller()
  await uploadReport(api, caller, sarif([sarifResult('one'), sarifResult('other')]))
  const [one, other] = (await get(caller, 'issues')).body.data
  await api.services.sql`update findings set issue_id = ${one.id} where issue_id = ${other.id}`
  await api.services.sql`update security_issues set merged_into = ${one.id}, listed = false where id = ${other.id}`
  assertError(await get(caller, `issues/${other.id}`), 404, 'not_found')
})
