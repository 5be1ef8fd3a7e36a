import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { fakeCodeHost } from '../support/fake-client.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import { IngestClient } from '../support/ingest-client.ts'
import { drainQueue } from '../support/queue.ts'

const host = fakeCodeHost()
let server: IngestServer
before(async () => {
  server = await startIngestServer({ codeHosts: host.codeHosts })
})
after(() => server?.close())

test('a token that has expired is replaced by a new one on the next try', async () => {
  const seconds = Math.floor(server.api.clock.now().getTime() / 1000)
  const expired = { iat: seconds - 900, nbf: seconds - 900, exp: seconds - 300 }
  const tokens = [await server.sign('gitlab', expired), await server.sign('gitlab')]
  const client = new IngestClient({
    url: server.api.url,
    provider: 'gitlab',
    token: () => tokens.shift() ?? assert.fail('more than two tries'),
  })
  const { report } = await client.send()
  assert.equal(report.status, 200, report.text)
  assert.deepEqual(client.pauses, [2000])
})

test('RUN_NOT_FOUND is tried again until the connected host has told of the run', async () => {
  const repository = hostRepository({ id: '7770001' })
  await insertConnection(server.api.services.sql, server.caller.orgId, repository)
  const run = hostRun({ id: '31337', repository, head_repository_id: repository.id })
  const asked: string[] = []
  host.answers.readRun = async (_repository, id) => {
    asked.push(id)
    return asked.length < 2 ? null : run
  }
  const claims = { run_id: run.id, sha: run.commit.sha }
  const pause = async () => drainQueue(server.api, 'ci.read-run-details')
  const client = server.client({ claims, pause })
  const { report, results } = await client.send({}, { 'a.txt': 'a' })
  assert.equal(report.status, 200, report.text)
  assert.equal(report.body.trusted, true)
  assert.ok(report.body.url.includes(`/runs/gh_run_${run.id}/`))
  assert.deepEqual(
    [client.pauses, asked],
    [
      [5000, 5000],
      [run.id, run.id],
    ],
  )
  assert.equal(results[0]?.status, 'uploaded')
})

test('RUN_NOT_FOUND is the last answer when the host never tells of the run', async () => {
  const client = server.client({ claims: { run_id: '404404' } })
  const { report } = await client.send()
  assert.deepEqual([report.status, report.body.code, report.body.retryable], [404, 'RUN_NOT_FOUND', true])
  assert.equal(report.headers['retry-after'], '5')
  assert.equal(client.pauses.length, 5)
})

test('a call and a PUT that a proxy in between has failed are sent again, and nothing is stored twice', async () => {
  const proxy = await startFailingProxy(server.api.url)
  try {
    const { url, ...claims } = { url: proxy.url, pipeline_id: '99' }
    const client = new IngestClient({ url, provider: 'gitlab', token: () => server.sign('gitlab', claims) })
    const { report } = await client.send({ artifacts: [] })
    assert.equal(report.status, 200, report.text)
    assert.deepEqual(proxy.statuses, [502, 200])
    assert.equal(await countReports('99'), 1)
  } finally {
    proxy.close()
  }
})

async function countReports(externalRunId: string): Promise<number> {
  const [row] = await server.api.services.sql<[{ count: number }]>`
    select count(*) as count
    from ci_reports report
    join ci_runs run on run.org_id = report.org_id and run.id = report.run_id
    where run.org_id = ${server.caller.orgId}
      and run.external_run_id = ${externalRunId}`
  return row.count
}

/** Passes requests on, and answers the first one with 502 after the server has stored the report. */
async function startFailingProxy(target: string) {
  const statuses: number[] = []
  const pass: RequestListener = async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { authorization = '' } = request.headers
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(target + request.url, { method: 'POST', headers, body })
    const status = statuses.length === 0 ? 502 : answer.status
    statuses.push(status)
    response.writeHead(status, { 'content-type': 'application/json' }).end(await answer.text())
  }
  const proxy = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { url, statuses, close: () => proxy.close() }
}
