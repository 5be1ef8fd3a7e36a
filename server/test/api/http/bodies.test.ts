import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError, assertInvalid } from '../../support/assert-error.ts'
import { newRun, patchRun, postRun } from '../../support/ci-runs.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

function post(body: string, contentType?: string): Promise<Answer> {
  const headers = contentType === undefined ? {} : { 'content-type': contentType }
  return api.request('POST', '/v1/ci/runs', { key: caller.key, body, headers })
}

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonp']) {
  test(`415 unsupported_media_type for a body that is ${type}`, async () => {
    assertError(await post(JSON.stringify(newRun()), type), 415, 'unsupported_media_type')
  })
}

test('415 unsupported_media_type for a compressed body', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const answer = await api.request('POST', '/v1/ci/runs', { key: caller.key, body: newRun(), headers })
  assertError(answer, 415, 'unsupported_media_type')
})

for (const type of ['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'APPLICATION/JSON']) {
  test(`201 for a body that is ${type}`, async () => {
    assert.equal((await post(JSON.stringify(newRun()), type)).status, 201)
  })
}

for (const text of ['{', '{"a":1,}', "{'a':1}", 'nul', '\ufeff{', '{} {}', '"\n"']) {
  test(`400 invalid_json for ${JSON.stringify(text)}`, async () => {
    assertError(await post(text), 400, 'invalid_json')
  })
}

test('400 invalid_json for a body that is not UTF-8', async () => {
  const bytes = Uint8Array.from(Buffer.from(JSON.stringify(newRun({ ref: 'é' })), 'latin1'))
  assertError(await sendBytes(bytes), 400, 'invalid_json')
})

for (const body of ['null', '[]', '"text"', '1', '']) {
  test(`400 invalid_request at /body for ${body || 'no body'}`, async () => {
    assertInvalid(await post(body), '/body')
  })
}

test('413 payload_too_large from 1 MiB and one byte on, not at 1 MiB', async () => {
  const fits = JSON.stringify(newRun()).padEnd(2 ** 20)
  assert.equal((await post(fits)).status, 201)
  assertError(await post(`${fits} `), 413, 'payload_too_large')
})

test('400 that names an unknown field, escaped as a JSON pointer, and stores nothing', async () => {
  const external_run_id = 'with-unknown-field'
  assertInvalid(await postRun(api, caller, { external_run_id, commitSha: 'x' }), '/body/commitSha')
  assertInvalid(await postRun(api, caller, { external_run_id, 'a/b~c': 'x' }), '/body/a~1b~0c')
  assert.equal((await postRun(api, caller, { external_run_id })).status, 201)
})

test('400 for an unknown field in PATCH too', async () => {
  assertInvalid(await patchRun(api, caller, 'run_x', { state: 'success' }), '/body/state')
})

for (const name of ['__proto__', 'constructor', 'toString', '__pr\\u006fto__']) {
  test(`400 for the field ${name}`, async () => {
    const text = JSON.stringify(newRun()).replace('{', `{"${name}":{"a":1},`)
    assertError(await post(text), 400, 'invalid_request')
  })
}

const WRONG_TYPES: [field: string, value: unknown][] = [
  ['attempt', '1'],
  ['attempt', true],
  ['attempt', 1.5],
  ['attempt', null],
  ['timeout_minutes', '30'],
  ['pipeline_name', 7],
  ['pipeline_name', ['build']],
  ['ref', null],
  ['status', ['queued']],
  ['started_at', 1_767_225_600_000],
]
for (const [field, value] of WRONG_TYPES) {
  test(`400 at /body/${field} for ${JSON.stringify(value)}: nothing is coerced`, async () => {
    assertInvalid(await postRun(api, caller, { [field]: value }), `/body/${field}`)
  })
}

for (const [title, text] of [
  ['U+0000', 'a\u0000b'],
  ['a lone high surrogate', 'a\ud83d'],
  ['a lone low surrogate', '\ude00a'],
] as const) {
  test(`400 that names the field for ${title}, in text and in names`, async () => {
    assertInvalid(await postRun(api, caller, { pipeline_name: text }), '/body/pipeline_name')
    assertError(await postRun(api, caller, { [text]: 'x' }), 400, 'invalid_request')
  })
}

const UNSTORABLE_NUMBERS = ['1e400', '-1e400', '1.5E+400', '1e0999', `1${'0'.repeat(400)}`, `${'9'.repeat(250)}e99`]
for (const number of UNSTORABLE_NUMBERS) {
  test(`400 that names the field for the number ${number.slice(0, 10)}, which exceeds the range of a double`, async () => {
    const attestation = { kind: 'custom', name: 'x', data: { status: 'pass', deep: [{ value: 0 }] } }
    const body = JSON.stringify({ attestations: [attestation] }).replace('"value":0', `"value": ${number}`)
    const answer = await api.request('POST', '/v1/ci/runs/run_x/reports', { key: caller.key, body })
    assertInvalid(answer, '/body/attestations/0/data/deep/0/value')
  })
}

for (const text of ['1e400', ': 1e999', `${'9'.repeat(400)}`]) {
  test(`201 for the text ${text.slice(0, 10)}, which only looks like such a number`, async () => {
    assert.equal((await postRun(api, caller, { pipeline_name: text.slice(0, 100) })).status, 201)
  })
}

for (const type of [
  'application/json; charset=utf-16',
  'application/json;charset="UTF-16LE"',
  'application/json; a=b; charset=latin1',
]) {
  test(`415 unsupported_media_type for ${type}`, async () => {
    assertError(await post(JSON.stringify(newRun()), type), 415, 'unsupported_media_type')
  })
}

test('201 for text in any script, which is stored unchanged', async () => {
  const pipeline_name = 'Über 流水线 🚀 \\u0000 \u2028'
  const { status, body } = await postRun(api, caller, { pipeline_name })
  assert.deepEqual([status, body.data.pipeline_name], [201, pipeline_name])
})

async function sendBytes(body: Uint8Array<ArrayBuffer>): Promise<Answer> {
  const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' }
  const response = await fetch(`${api.url}/v1/ci/runs`, { method: 'POST', headers, body })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}
