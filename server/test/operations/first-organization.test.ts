import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFirstOrganization } from '../../src/access/manage-access.ts'
import { describeFirstSteps } from '../../src/commands/start.ts'
import { startTestApi } from '../support/api.ts'

test('of several servers that start at once on an empty database, one creates the first organization and its key', async () => {
  const api = await startTestApi()
  try {
    const made = await Promise.all([1, 2, 3, 4].map(() => createFirstOrganization(api.services)))
    const [only, ...others] = made.filter((result) => result !== null)
    assert.ok(only)
    assert.deepEqual(others, [])
    assert.equal(await createFirstOrganization(api.services), null)

    const text = describeFirstSteps(only, api.url)
    const [, url = ''] = /curl -sS (\S+\/v1\/ci\/runs) /.exec(text) ?? []
    const [, body = ''] = /-d '(.*)'/.exec(text) ?? []
    const [, key = ''] = /Bearer (\S+)'/.exec(text) ?? []
    assert.equal((await api.request('POST', url.slice(api.url.length), { key, body })).status, 201)
    assert.equal((await api.request('GET', '/v1/runs', { key })).body.data.length, 1)
  } finally {
    await api.close()
  }
})
