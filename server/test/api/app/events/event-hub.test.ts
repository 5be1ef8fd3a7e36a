import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findSession } from '../../../../src/access/sign-in/session.store.ts'
import { hashSessionToken, SESSION_IDLE_MS_MAX } from '../../../../src/access/sign-in/session.ts'
import { EventHub } from '../../../../src/console-server/event-hub.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { EventReader } from '../../../support/event-reader.ts'
import { createPerson } from '../../../support/people.ts'
import { createUpload, putFile } from '../../../support/reports.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'
import { startWorkerProcess } from '../../../support/workers.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

test('heartbeats arrive, and a session that was not used for too long ends its stream', async () => {
  const hub = new EventHub(api.services, 10)
  const { cookie, userId } = await createPerson(api, caller)
  const tokenSha256 = hashSessionToken(cookie.replace('shiplock=', ''))
  const session = await findSession(api.services.sql, tokenSha256, caller.slug)
  const { readable } = hub.open({ userId, tokenSha256, membership: session?.membership ?? assert.fail() })
  let heartbeats = 0
  for await (const chunk of readable.setEncoding('utf8')) {
    heartbeats += (chunk as string).split(': heartbeat').length - 1
    if (heartbeats === 3) api.clock.advance(SESSION_IDLE_MS_MAX)
  }
  assert.ok(heartbeats >= 3)
  hub.stop()
})

test('what a worker has done is named: a report was read, and has findings and issues', async () => {
  await using _worker = startWorkerProcess(api)
  const owner = await api.caller()
  const reader = await EventReader.open(api, await createPerson(api, owner))
  const bytes = Buffer.from(JSON.stringify(sarif([sarifResult('rule')])))
  const created = await createUpload(api, owner, bytes)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: owner.key })
  await reader.until('security_upload', id)
  await reader.until('issue')
  reader.close()
})
