import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, mock, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from './support/api.ts'
import { createRun } from './support/ci-runs.ts'
import { postGate } from './support/gates.ts'
import { collectedFile, SECRETS_DIRECTORY } from './support/secrets/collected-logs.ts'
import { findLeaks } from './support/secrets/find-leaks.ts'
import { noteFields } from './support/secrets/note-secrets.ts'
import { reportLeaks } from './support/secrets/report-leaks.ts'
import './support/secrets/watch-fetch.ts'

const SECRET = 'shl_live_7Gq2xWm4Zr9TbVn1KcYp'
const directory = mkdtempSync(join(tmpdir(), 'shiplock-leaks-'))
const collected = process.env[SECRETS_DIRECTORY]
let api: TestApi
let caller: Caller

before(async () => {
  process.env[SECRETS_DIRECTORY] = directory
  api = await startTestApi()
  caller = await api.caller()
})
after(async () => {
  await api?.close()
  if (collected) process.env[SECRETS_DIRECTORY] = collected
  else delete process.env[SECRETS_DIRECTORY]
  rmSync(directory, { recursive: true, force: true })
})

const secrets = [{ kind: 'key', value: SECRET }]

test('a secret is found wherever it stands in a log, and is not shown', () => {
  for (const line of [SECRET, `{"url":"/x?key=${SECRET}"}`, `${SECRET.slice(0, 20)}${SECRET}`, `é${SECRET}\r`]) {
    const [leak, ...others] = findLeaks(`{"level":30}\n${line}\n`, secrets)
    assert.deepEqual([leak?.kind, others], ['key', []])
    assert.ok(leak && !leak.line.includes(SECRET))
  }
})

test('a part of a secret, and a text that begins like one, are no leaks', () => {
  for (const line of [SECRET.slice(0, -1), SECRET.slice(1), `${SECRET.slice(0, 15)}${SECRET.slice(16)}`])
    assert.deepEqual(findLeaks(line, secrets), [])
})

test('a secret is found as JSON and as an address write it', () => {
  const value = 'a"b c/d?e=f&g12345'
  for (const line of [JSON.stringify({ value }), `https://x.example/?q=${encodeURIComponent(value)}`])
    assert.equal(findLeaks(line, [{ kind: 'password', value }]).length, 1, line)
})

test('one of many secrets is found in a long log in a short time', () => {
  const many = Array.from({ length: 20_000 }, (_, at) => ({ kind: 'key', value: `shl_live_${at}_${'z'.repeat(20)}` }))
  const lines = Array.from({ length: 20_000 }, (_, at) => `{"level":30,"time":${at},"msg":"Something was done"}`)
  assert.equal(findLeaks([...lines, many[7]?.value].join('\n'), many).length, 1)
})

function notedSecrets(): string {
  return readFileSync(collectedFile('.secrets') ?? '', 'utf8')
}

test('what a test sends and receives as a credential is noted', async () => {
  const run = await createRun(api, caller)
  const opened = await postGate(api, caller, { run_id: run.id, environment: 'production' })
  assert.equal(opened.status, 409, 'no gate is configured')
  noteFields('received', { data: { poll_token: SECRET, uploads: [{ url: `https://x.example/o?token=${SECRET}2` }] } })
  for (const secret of [caller.key, SECRET, `${SECRET}2`]) assert.ok(notedSecrets().includes(`"${secret}"`), secret)
})

test('names, short texts and texts of few characters are not noted', () => {
  const harmless = { password: 'administrator', token: 'x'.repeat(40), secret: 'short', name: SECRET.toLowerCase() }
  noteFields('sent', harmless)
  for (const value of Object.values(harmless)) assert.ok(!notedSecrets().includes(`"${value}"`), value)
})

test('the runner reports a secret that a server has logged', async () => {
  api.services.log.info({ address: `/v1/runs?token=${caller.key}` }, 'A planted leak')
  const said = mock.method(console, 'error', () => undefined)
  try {
    assert.ok((await reportLeaks(directory, [])) >= 1)
    assert.match(said.mock.calls.map(({ arguments: [line] }) => line).join('\n'), /credential.*A planted leak/)
  } finally {
    said.mock.restore()
  }
})

test('the runner reports a secret in another log, such as that of the database', async () => {
  const other = join(directory, 'postgres-of-test.txt')
  writeFileSync(other, `ERROR: ${caller.key}\n`)
  const said = mock.method(console, 'error', () => undefined)
  try {
    assert.ok((await reportLeaks(directory, [other])) >= 1)
    assert.match(said.mock.calls.map(({ arguments: [line] }) => line).join('\n'), /postgres-of-test/)
  } finally {
    said.mock.restore()
  }
})
