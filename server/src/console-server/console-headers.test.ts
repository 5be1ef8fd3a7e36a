import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import Fastify, { type FastifyReply } from 'fastify'
import { type Encoding, matchEtag, registerCompression, selectEncoding } from './console-headers.ts'

const CASES: [header: string | undefined, chosen: Encoding][] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=1.0', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['identity, br;q=0.1', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['br; q=0.000', 'identity'],
  ['br;q=high', 'identity'],
  ['zstd', 'identity'],
]
for (const [header, chosen] of CASES) {
  test(`Accept-Encoding ${JSON.stringify(header)} gets ${chosen}`, () => {
    assert.equal(
      selectEncoding(header, () => true),
      chosen,
    )
  })
}

test('an encoding that does not exist is not chosen', () => {
  assert.equal(
    selectEncoding('br, gzip', (encoding) => encoding !== 'br'),
    'gzip',
  )
  assert.equal(
    selectEncoding('br, gzip', (encoding) => encoding === 'identity'),
    'identity',
  )
})

test('an entity tag is compared with each one of the header', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) assert.ok(matchEtag(header, '"a"'), header)
  for (const header of [undefined, '"b"', 'a', '"a', '']) assert.ok(!matchEtag(header, '"a"'), header)
})

test('what the application returns to GET is compressed, and new secrets and short answers are not', async () => {
  const app = Fastify()
  registerCompression(app)
  const list = JSON.stringify({ data: Array.from({ length: 100 }, () => 'the same text') })
  const send = (_: unknown, reply: FastifyReply) => reply.type('application/json').send(list)
  app.get('/app/api/list', send)
  app.post('/app/api/list', send)
  app.get('/app/api/short', (_, reply) => reply.type('application/json').send('{}'))
  app.get('/v1/list', send)
  const read = async (method: 'GET' | 'POST', url: string, accepted = 'gzip, deflate, br') => {
    const { headers, rawPayload } = await app.inject({ method, url, headers: { 'accept-encoding': accepted } })
    return [headers['content-encoding'], rawPayload] as const
  }
  const [br, body] = await read('GET', '/app/api/list')
  assert.deepEqual([br, brotliDecompressSync(body).toString()], ['br', list])
  const [gzip, zipped] = await read('GET', '/app/api/list', 'gzip')
  assert.deepEqual([gzip, gunzipSync(zipped).toString()], ['gzip', list])
  assert.deepEqual(await read('GET', '/app/api/list', 'identity'), [undefined, Buffer.from(list)])
  assert.deepEqual(await read('POST', '/app/api/list'), [undefined, Buffer.from(list)])
  assert.deepEqual(await read('GET', '/v1/list'), [undefined, Buffer.from(list)])
  assert.deepEqual(await read('GET', '/app/api/short'), [undefined, Buffer.from('{}')])
})
