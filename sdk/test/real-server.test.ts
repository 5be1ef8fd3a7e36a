import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { blobSource, createClient, hashSource, type ShiplockClient, ShiplockError, streamSource } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import type { Caller, TestApi } from '../../server/test/support/api.ts'
import { answer, configureGate } from '../../server/test/support/gates.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'
import { startApiWithWorker } from './support/api-with-worker.ts'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const REPORT = JSON.stringify(sarif([sarifResult('a'), sarifResult('b')]))

let api: TestApi
let caller: Caller
let client: ShiplockClient
let directory: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-sdk-'))
  api = await startApiWithWorker()
  caller = await api.caller()
  client = createClient({ url: `${api.url}/`, token: caller.key })
})
after(async () => {
  await api?.close()
  await rm(directory, { recursive: true })
})

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

let runs = 0
async function startRun(): Promise<string> {
  const { data, response } = await client.api.POST('/v1/ci/runs', {
    body: {
      ci_system: 'jenkins',
      external_run_id: String(++runs),
      repository: 'git.example.com/acme/shop',
      commit_sha: SHA,
      pipeline_name: 'build',
    },
  })
  assert.equal(response.status, 201)
  return data.data.id
}

test('an error of the API has its status, code, details and request id', async () => {
  const body = { ci_system: 'X', external_run_id: '1', repository: 'r', commit_sha: SHA, pipeline_name: 'p' }
  await assert.rejects(client.api.POST('/v1/ci/runs', { body }), (error) => {
    assert.ok(error instanceof ShiplockError)
    assert.deepEqual([error.status, error.code, error.retryable], [400, 'invalid_request', false])
    assert.ok(Array.isArray(error.details.errors))
    assert.match(error.requestId ?? '', /^[\w.-]+$/)
    return true
  })
})

test('a wrong key is `unauthorized`, a missing scope `forbidden`', async () => {
  const stranger = createClient({ url: api.url, token: 'shl_live_wrong' })
  await assert.rejects(stranger.api.GET('/v1/runs'), { name: 'ShiplockError', status: 401, code: 'unauthorized' })
  const { key } = await api.caller({ scopes: ['write:ci'] })
  const writer = createClient({ url: api.url, token: key })
  await assert.rejects(writer.api.GET('/v1/runs'), { name: 'ShiplockError', status: 403, code: 'forbidden' })
})

test('a list yields the items of every page, in the order of the API', async () => {
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push(await startRun())
  const since = '2026-01-01T00:00:00Z'
  const read: string[] = []
  for await (const { id } of client.list('/v1/runs', { query: { limit: 2, since } })) read.push(id)
  assert.deepEqual(read.slice(0, 5).sort(), ids.sort())
})

for (const [what, open] of [
  ['file', async (text: string) => fileSource(await file('scan.sarif', text))],
  ['Blob', async (text: string) => blobSource(new Blob([text]), 'scan.sarif')],
  [
    'stream',
    async (text: string) => {
      const blob = new Blob([text])
      const known = await hashSource(blobSource(blob, 'x'))
      return streamSource(blob.stream(), { name: 'scan.sarif', ...known })
    },
  ],
] as const) {
  test(`a report from a ${what} is uploaded and read; the same file again is not sent`, async () => {
    const sent: number[] = []
    const target = { repository: 'acme/shop', commit: SHA, category: what }
    const onProgress = (bytes: number) => sent.push(bytes)
    const upload = await client.uploadReport(await open(REPORT), { ...target, onProgress })
    assert.deepEqual([upload.status, upload.counts.findings, upload.filename], ['finished', 2, 'scan.sarif'])
    assert.deepEqual([sent[0], sent.at(-1)], [0, REPORT.length])
    sent.length = 0
    const again = await client.uploadReport(await open(REPORT), { ...target, onProgress })
    assert.deepEqual([again.id, sent], [upload.id, []])
  })
}

test('the target of a report is sent as the API names it, and waiting can be turned off', async () => {
  const options = { repository: 'acme/shop', ref: 'feature', commit: SHA, category: 'x', tracked: false, wait: false }
  const upload = await client.uploadReport(blobSource(new Blob([REPORT]), 'dir/x.sarif'), options)
  const { filename, git_ref, commit_sha, category, tracked } = upload
  assert.deepEqual([filename, git_ref, commit_sha, category, tracked], ['x.sarif', 'feature', SHA, 'x', false])
  assert.ok(['queued', 'parsing', 'finished'].includes(upload.status))
})

test('a report that cannot be read is returned as `failed` with the reason', async () => {
  const upload = await client.uploadReport(blobSource(new Blob(['{}']), 'x.json'), { repository: 'acme/shop' })
  assert.equal(upload.status, 'failed')
  assert.ok(upload.error)
})

test('a job report is stored with more files and attestations than one request takes', async () => {
  const runId = await startRun()
  const files = Array.from({ length: 53 }, (_, i) => ({
    path: `dist/${i}.txt`,
    source: blobSource(new Blob(['x'.repeat(i)]), `${i}.txt`),
  }))
  const attestations = Array.from({ length: 23 }, (_, i) => ({
    kind: 'custom',
    name: `check ${i}`,
    status: 'pass' as const,
    data: {},
  }))
  const sent = new Map<string, number>()
  const onProgress = (path: string, bytes: number) => sent.set(path, bytes)
  const report = { job: { name: 'build' }, attestations }
  const { report: stored, results } = await client.sendReport(runId, report, files, { onProgress })
  assert.equal(stored.uploads.length, 53)
  assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(['uploaded']))
  assert.deepEqual(results.map(({ path }) => path).sort(), files.map(({ path }) => path).sort())
  assert.deepEqual([...sent].sort(), files.map(({ path, source }) => [path, source.size]).sort())
})

test('a file that cannot be sent is an error, and the others are completed', async () => {
  const runId = await startRun()
  const good = blobSource(new Blob(['good']), 'good.txt')
  const bad = { ...blobSource(new Blob(['bad']), 'bad.txt'), sha256: 'f'.repeat(64) }
  const files = [
    { path: 'bad.txt', source: bad },
    { path: 'good.txt', source: good },
  ]
  await assert.rejects(client.sendReport(runId, { job: {} }, files), {
    name: 'ShiplockError',
    code: 'checksum_mismatch',
  })
  const again = await client.sendReport(runId, { job: {} }, [{ path: 'good.txt', source: good }])
  assert.deepEqual([again.report.skipped, again.results], [[{ path: 'good.txt', reason: 'already_uploaded' }], []])
})

test('waitForGate returns the decision', async () => {
  await configureGate(api, caller)
  const runId = await startRun()
  const { data } = await client.api.POST('/v1/ci/gates', { body: { run_id: runId, environment: 'production' } })
  const seen: string[] = []
  const waiting = client.waitForGate(data.data, {
    onState: ({ status }) => {
      seen.push(status)
      if (seen.length > 1) return
      void answer(api, caller, data.data.deployment_id, 'approve')
    },
  })
  const gate = await waiting
  assert.equal(gate.decision, 'approved')
  assert.deepEqual(seen, ['waiting', 'decided'])
})
