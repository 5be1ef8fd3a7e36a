import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startFileStore } from '../support/file-store-server.ts'
import { expectationOf, send } from '../support/object-store-contract.ts'

describe('GET /storage/objects', () => {
  let server: Awaited<ReturnType<typeof startFileStore>>
  before(async () => {
    server = await startFileStore()
    const page = Buffer.from('<script>alert(1)</script>')
    await send(await server.store.presignPut('a/page', expectationOf(page), new Date()), page)
  })
  after(() => server.close())

  test('200 as a download that no browser runs, sniffs or keeps', async () => {
    const { headers } = await fetch((await server.store.presignGet('a/page', 'page.html', new Date())).url)
    assert.equal(headers.get('content-type'), 'application/octet-stream')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('content-disposition') ?? '', /^attachment;/)
    assert.equal(headers.get('cache-control'), 'private, no-store')
  })

  test('403 in the error envelope when the token is missing or altered', async () => {
    const { url } = await server.store.presignGet('a/page', 'page.html', new Date())
    for (const wrong of [url.replace(/\?.*/, ''), `${url}A`, url.replace('token=', 'token=A'), `${url}&token=`]) {
      const response = await fetch(wrong)
      assert.equal(response.status, 403)
      const { error } = (await response.json()) as { error: { code: string } }
      assert.equal(error.code, 'invalid_signature')
    }
  })

  test('404 not_found in the error envelope when the object is gone, without its key', async () => {
    const response = await fetch((await server.store.presignGet('a/gone', 'page.html', new Date())).url)
    assert.equal(response.status, 404)
    const text = await response.text()
    assert.equal(JSON.parse(text).error.code, 'not_found')
    assert.ok(!text.includes('a/gone'))
  })

  test('405 for HEAD, which would read the whole file without need', async () => {
    const { url } = await server.store.presignGet('a/page', 'page.html', new Date())
    assert.equal((await fetch(url, { method: 'HEAD' })).status, 405)
  })
})
