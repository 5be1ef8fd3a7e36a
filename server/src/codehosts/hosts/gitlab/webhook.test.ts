import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasSignature, readHead } from './webhook.ts'

const TARGET = { installation_id: '7', secret: 'a secret' }
const head = (payload: unknown, headers = {}) =>
  readHead(Buffer.from(JSON.stringify(payload)), { 'idempotency-key': 'key-1', ...headers }, TARGET)

test('all tries of a delivery have the id of its idempotency key', () => {
  const found = head({ object_kind: 'push', project_id: 3 })
  assert.deepEqual(found && { ...found, payload: null }, {
    id: 'key-1',
    event: 'push',
    action: null,
    installation_id: '7',
    lane: 'repository:3',
    payload: null,
  })
})

test('without a key, equal bodies have one id', () => {
  const payload = { object_kind: 'push', project_id: 3 }
  const without = { 'idempotency-key': undefined }
  assert.match(head(payload, without)?.id ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(head(payload, without)?.id, head(payload, without)?.id)
  assert.notEqual(head({ ...payload, project_id: 4 }, without)?.id, head(payload, without)?.id)
})

const LANES: [payload: object, lane: string, action: string | null][] = [
  [{ object_kind: 'pipeline', object_attributes: { id: 5, status: 'success' } }, 'run:5', 'success'],
  [{ object_kind: 'build', pipeline_id: 5, build_id: 6, build_status: 'failed' }, 'run:5', 'failed'],
  [{ object_kind: 'deployment', deployment_id: 8, status: 'running' }, 'deployment:8', 'running'],
  [
    { object_kind: 'merge_request', project: { id: 3 }, object_attributes: { iid: 4, action: 'approved' } },
    'pull:3:4',
    'approved',
  ],
  [{ event_name: 'project_create', project_id: 3 }, 'repository:3', null],
  [{ object_kind: 'vulnerability', object_attributes: {} }, 'delivery:key-1', null],
]
for (const [payload, lane, action] of LANES)
  test(`${JSON.stringify(payload)} is of the lane ${lane}`, () => {
    const found = head(payload)
    assert.deepEqual([found?.lane, found?.action], [lane, action])
  })

test('variables of pipelines and code with secrets are not stored', () => {
  const found = head({
    object_kind: 'pipeline',
    object_attributes: { id: 5, variables: [{ key: 'TOKEN', value: 'secret-1' }] },
    location: { file: 'a', raw_source_code_extract: 'secret-2' },
  })
  assert.deepEqual(JSON.parse(found?.payload ?? ''), {
    object_kind: 'pipeline',
    object_attributes: { id: 5 },
    location: { file: 'a' },
  })
})

for (const body of ['', '{', '[]', '{"object_kind": 3}', '{"object_kind": "a b"}', '{}', '\xff'])
  test(`the body ${JSON.stringify(body)} has no head`, () =>
    assert.equal(readHead(Buffer.from(body, 'latin1'), {}, TARGET), null))

test('before the body is read, a token is compared, and a signature has its form', () => {
  const signed = (text: string) => hasSignature({ 'webhook-signature': text, 'x-gitlab-token': TARGET.secret }, TARGET)
  assert.ok(hasSignature({ 'x-gitlab-token': TARGET.secret }, TARGET))
  assert.ok(signed(`v1,${'A'.repeat(43)}=`))
  assert.ok(signed(`v2,x v1,${'A'.repeat(43)}=`))
  for (const text of ['', 'v1,', `v1,${'A'.repeat(42)}=`, 'v1']) assert.ok(!signed(text), text)
  for (const headers of [{}, { 'x-gitlab-token': 'a guess' }]) assert.ok(!hasSignature(headers, TARGET))
  assert.ok(!hasSignature({ 'x-gitlab-token': TARGET.secret }, null))
  assert.ok(!hasSignature({ 'x-gitlab-token': '' }, { ...TARGET, secret: '' }))
})
