import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetchIntel } from '../../src/security/intel/fetch-intel.job.ts'
import { startTestApi, type TestApi } from '../support/api.ts'

let api: TestApi
let server: Server
let host: string
let answer: RequestListener
let asked: string[]

before(async () => {
  api = await startTestApi()
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server?.close()
  await api?.close()
})
beforeEach(() => {
  asked = []
})

const scores = '#model_version:v1,score_date:2026-03-02\ncve,epss,percentile\nCVE-2021-44228,0.94358,0.99956\n'

function settings(paths: { kev?: string; epss?: string; osv?: string[] }, hosts = [host]) {
  const url = (path: string) => `http://${host}${path}`
  return {
    kevUrl: paths.kev === undefined ? null : url(paths.kev),
    epssUrl: paths.epss === undefined ? null : url(paths.epss),
    osvUrls: (paths.osv ?? []).map(url),
    hosts,
  }
}

async function storedScores(): Promise<number> {
  const [row] = await api.services.sql<[{ count: number }]>`select count(*) from intel_epss`
  return row.count
}

test('a file at an allowed address is imported, also after a redirect and compressed with gzip', async () => {
  answer = (request, response) => {
    if (request.url === '/current.csv.gz') response.writeHead(302, { location: '/day.csv.gz' }).end()
    else response.end(gzipSync(scores))
  }
  await fetchIntel(api.services, settings({ epss: '/current.csv.gz' }))
  assert.deepEqual(asked, ['/current.csv.gz', '/day.csv.gz'])
  assert.equal(await storedScores(), 1)
})

test('a redirect to a host that is not allowed is not followed', async () => {
  answer = (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end()
  await assert.rejects(
    fetchIntel(api.services, settings({ epss: '/scores.csv' })),
    /The host 127\.0\.0\.1:1 is not allowed/,
  )
})

test('no request is sent to a host that is not allowed', async () => {
  answer = (_request, response) => response.end(scores)
  await assert.rejects(fetchIntel(api.services, settings({ epss: '/scores.csv' }, ['first.org'])), /is not allowed/)
  assert.deepEqual(asked, [])
})

test('if one address fails, the others are imported and the failure is thrown', async () => {
  answer = (request, response) => {
    if (request.url === '/kev.json') response.writeHead(500).end()
    else response.end(scores.replace('2026-03-02', '2026-03-03').concat('CVE-2021-10001,0.1,0.2\n'))
  }
  await assert.rejects(
    fetchIntel(api.services, settings({ kev: '/kev.json', epss: '/scores.csv' })),
    /kev\.json: The server responded with status 500/,
  )
  assert.equal(await storedScores(), 2)
})
