import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { formatSigningToken, readHead, verify } from './webhook.ts'

const TARGET = { installation_id: '7', secret: 'a secret' }
const BODY = Buffer.from('{"object_kind":"push"}')

function signed(body: Buffer, secret = TARGET.secret): Record<string, string> {
  const key = Buffer.from(formatSigningToken(secret).replace(/^whsec_/, ''), 'base64')
  const [id, time] = ['delivery-1', '1796083200']
  const signature = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` }
}

test('signing tokens have the form of Standard Webhooks, with 32 bytes', () => {
  const [, key = ''] = /^whsec_(.+)$/.exec(formatSigningToken('any')) ?? []
  assert.equal(Buffer.from(key, 'base64').length, 32)
  assert.notEqual(formatSigningToken('any'), formatSigningToken('other'))
})

test('a token proves a delivery without a signature', async () => {
  assert.equal(await verify(BODY, { 'x-gitlab-token': TARGET.secret }, TARGET), true)
  for (const headers of [{}, { 'x-gitlab-token': '' }, { 'x-gitlab-token': 'another' }])
    assert.equal(await verify(BODY, headers, TARGET), false)
  assert.equal(await verify(BODY, { 'x-gitlab-token': TARGET.secret }, null), false)
  assert.equal(await verify(BODY, { 'x-gitlab-token': '' }, { ...TARGET, secret: '' }), false)
})

test('a signature covers the id, the time and the bytes of the body', async () => {
  const headers = signed(BODY)
  assert.equal(await verify(BODY, headers, TARGET), true)
  assert.equal(await verify(Buffer.concat([BODY, Buffer.from(' ')]), headers, TARGET), false)
  for (const name of Object.keys(headers))
    assert.equal(await verify(BODY, { ...headers, [name]: 'x' }, TARGET), false, name)
  const several = `v1,AAAA ${headers['webhook-signature']}`
  assert.equal(await verify(BODY, { ...headers, 'webhook-signature': several }, TARGET), true)
  assert.equal(await verify(BODY, signed(BODY, 'another'), TARGET), false)
})

test('a wrong signature is not replaced by a token', async () => {
  const headers = { ...signed(BODY, 'another'), 'x-gitlab-token': TARGET.secret }
  assert.equal(await verify(BODY, headers, TARGET), false)
})

test('a signed delivery has the id that is signed; another key is refused', async () => {
  const headers = signed(BODY)
  const id = headers['webhook-id'] as string
  assert.equal(await verify(BODY, { ...headers, 'idempotency-key': id }, TARGET), true)
  assert.equal(await verify(BODY, { ...headers, 'idempotency-key': 'delivery-2' }, TARGET), false)
  assert.equal(readHead(BODY, headers, TARGET)?.id, id)
  assert.equal(readHead(BODY, { ...headers, 'idempotency-key': id }, TARGET)?.id, id)
})
