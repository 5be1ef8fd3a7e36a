import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { startTestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createPerson, requestAs } from '../../../../support/people.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { putFile } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

test('a developer uploads a report with the three calls of /v1, and its origin is ui', async () => {
  const api = await startTestApi()
  try {
    const caller = await api.caller()
    const developer = await createPerson(api, { ...caller, role: 'developer' })
    const bytes = Buffer.from(JSON.stringify(sarif([sarifResult('rule')])))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const body = { filename: 'report.sarif', size: bytes.length, sha256, repository: 'acme/api' }
    const viewer = await createPerson(api, { ...caller, role: 'viewer' })
    assertError(await requestAs(api, viewer, 'POST', '/security/uploads', body), 403, 'insufficient_permission')
    const created = await requestAs(api, developer, 'POST', '/security/uploads', body)
    assert.deepEqual([created.status, created.body.data.upload.origin], [201, 'ui'])
    assert.equal((await putFile(created, bytes)).status, 200)
    const again = await requestAs(api, developer, 'POST', '/security/uploads', body)
    assert.equal(again.status, 200)
    const path = `/security/uploads/${created.body.data.upload.id}`
    assert.equal((await requestAs(api, developer, 'POST', `${path}/complete`)).status, 200)
    await drainQueue(api)
    const { status, counts } = (await requestAs(api, viewer, 'GET', path)).body.data
    assert.deepEqual([status, counts.findings], ['finished', 1])
    const byKey = await api.request('POST', '/v1/security/uploads', {
      key: caller.key,
      body: { ...body, sha256: '0'.repeat(64) },
    })
    assert.equal(byKey.body.data.upload.origin, 'api')
    assert.equal(created.body.data.upload.created_by.id, developer.userId)
    assert.equal(byKey.body.data.upload.created_by.type, 'api_key')
    const entries = await api.services.sql`
      select principal_id, object_id, details ->> 'repository' as repository
      from audit_entries
      where action = 'security_upload.create'`
    assert.deepEqual(
      [...entries],
      [{ principal_id: developer.userId, object_id: created.body.data.upload.id, repository: 'acme/api' }],
    )
  } finally {
    await api.close()
  }
})
