import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Caller, TestApi } from '../../../server/test/support/api.ts'
import { sarif, sarifResult } from '../../../server/test/support/sarif.ts'
import { startApiWithWorker } from '../support/api-with-worker.ts'
import { documentedPrograms } from '../support/documented.ts'
import { published } from '../support/published.ts'
import { type SameOrigin, startSameOrigin } from '../support/same-origin.ts'

const { consumer, chromium: executablePath } = published()

let origin: SameOrigin
let api: TestApi
let caller: Caller
let browser: Browser
let page: Page

before(async () => {
  origin = await startSameOrigin(join(consumer, 'node_modules'))
  api = await startApiWithWorker({ SHIPLOCK_BASE_URL: origin.url })
  origin.forwardTo(api.url)
  caller = await api.caller()
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  page = await browser.newPage()
  await page.goto(origin.url)
})
after(async () => {
  await browser?.close()
  await api?.close()
  await origin?.close()
})

test('the program of docs/sdk.md uploads the file of an input, with progress', async () => {
  const [documented] = documentedPrograms('js browser')
  const path = join(consumer, 'browser.sarif')
  await writeFile(path, JSON.stringify(sarif([sarifResult('a'), sarifResult('b')])))
  await page.fill('#key', caller.key)
  await page.setInputFiles('#report', path)
  await page.addScriptTag({ type: 'module', content: documented?.program ?? '' })
  await page.waitForFunction('document.querySelector("#status").textContent')
  assert.equal(await page.textContent('#status'), 'finished: 2 findings')
  assert.equal(await page.getAttribute('#progress', 'value'), '1')
})

/** Runs the body of an async function in the page, with all names of the SDK and a client. */
function inPage<T>(body: string): Promise<T> {
  return page.evaluate(`(async () => {
    const sdk = await import('@shiplock/sdk')
    const { createClient, blobSource, hashSource, streamSource, putSlot } = sdk
    const client = createClient({ url: location.origin, token: '${caller.key}', retry: { firstDelayMs: 1 } })
    const newRun = async (id) => {
      const body = { ci_system: 'jenkins', external_run_id: id, repository: 'git.example.com/acme/shop' }
      const commit = { commit_sha: '0123456789abcdef0123456789abcdef01234567', pipeline_name: 'build' }
      return (await client.api.POST('/v1/ci/runs', { body: { ...body, ...commit } })).data.data.id
    }
    ${body}
  })()`)
}

test('a job report with large files, from a Blob and from a stream, with progress', async () => {
  const { results, sent } = await inPage<{ results: { status: string }[]; sent: Record<string, number[]> }>(`
    const blob = new Blob([new Uint8Array(20_000_000).fill(7), 'end'])
    const stream = () => streamSource(blob.stream(), { name: 'b', size: blob.size, sha256: known.sha256 })
    const known = await hashSource(blobSource(blob, 'a'))
    const files = [{ path: 'a.bin', source: blobSource(blob, 'a') }, { path: 'b.bin', source: stream() }]
    const sent = { 'a.bin': [], 'b.bin': [] }
    const onProgress = (path, bytes) => sent[path].push(bytes)
    const { results } = await client.sendReport(await newRun('1'), { job: {} }, files, { onProgress })
    return { results, sent }
  `)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['uploaded', 'uploaded'],
  )
  for (const bytes of Object.values(sent)) {
    assert.deepEqual([bytes[0], bytes.at(-1)], [0, 20_000_003])
    assert.deepEqual(
      bytes,
      [...bytes].sort((a, b) => a - b),
    )
  }
})

test('a list yields every page, and an error has its code', async () => {
  const { ids, failed } = await inPage<{ ids: string[]; failed: unknown[] }>(`
    await newRun('2')
    await newRun('3')
    const ids = []
    for await (const { id } of client.list('/v1/runs', { query: { limit: 1 } })) ids.push(id)
    const stranger = createClient({ url: location.origin, token: 'wrong' })
    const error = await stranger.api.GET('/v1/runs').catch((error) => error)
    return { ids, failed: [error instanceof sdk.ShiplockError, error.status, error.code] }
  `)
  assert.ok(new Set(ids).size >= 2)
  assert.deepEqual(failed, [true, 401, 'unauthorized'])
})

test('a failed PUT is repeated, and an unreachable server is a NetworkError', async () => {
  origin.failNextPut()
  const { retries, status, failed } = await inPage<Record<string, unknown>>(`
    const retries = []
    const again = createClient({ url: location.origin, token: '${caller.key}', retry: { firstDelayMs: 1 }, onRetry: ({ method }) => retries.push(method) })
    const file = { path: 'c.txt', source: blobSource(new Blob(['c']), 'c') }
    const { results } = await again.sendReport(await newRun('4'), { job: {} }, [file])
    const nowhere = createClient({ url: 'http://127.0.0.1:9', token: null, retry: { attempts: 1 } })
    const error = await nowhere.api.GET('/v1/provenance/keys').catch((error) => error)
    return { retries, status: results[0].status, failed: [error instanceof sdk.NetworkError, error.message] }
  `)
  assert.deepEqual([retries, status], [['PUT'], 'uploaded'])
  assert.deepEqual(failed, [true, 'The server at http://127.0.0.1:9 cannot be reached (Failed to fetch)'])
})
