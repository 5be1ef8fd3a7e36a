import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { after, before, test } from 'node:test'
import { fakeCodeHost } from '../support/fake-client.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import { describeFile, IngestClient } from '../support/ingest-client.ts'
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
    const token = () => server.sign('gitlab', { pipeline_id: '99' })
    const client = new IngestClient({ url: proxy.url, provider: 'gitlab', token })
    const content = Buffer.alloc(200_000, 'a')
    const { body } = await client.call('reports', {
      version: 1,
      job: { name: 'test' },
      artifacts: [describeFile('a.txt', content)],
    })
    const [slot] = body.uploads
    const put = await client.put({ ...slot, url: slot.url.replace(server.api.url, proxy.url) }, content)
    assert.equal(put.status, 200, put.text)
    const { results } = (await client.complete(body.reportId, [slot.artifactId])).body
    assert.deepEqual(results, [{ artifactId: slot.artifactId, status: 'uploaded' }])
    assert.deepEqual(proxy.statuses, { POST: [502, 200, 200], PUT: [502, 200] })
    assert.deepEqual(client.pauses, [2000])
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

/**
 * Passes requests on. The first one of each method is answered with 502 after the server has
 * accepted it. Returns the statuses of each method.
 */
async function startFailingProxy(target: string) {
  const statuses: Record<string, number[]> = { POST: [], PUT: [] }
  const pass: RequestListener = async (incoming, response) => {
    const outgoing = request(target + incoming.url, { method: incoming.method, headers: incoming.headers })
    const [answer] = (await Promise.all([once(outgoing, 'response'), pipeline(incoming, outgoing)]))[0] as [
      IncomingMessage,
    ]
    const answered = statuses[incoming.method as string] as number[]
    answered.push(answered.length === 0 ? 502 : (answer.statusCode as number))
    response.writeHead(answered.at(-1) as number, { 'content-type': 'application/json' })
    await pipeline(answer, response)
  }
  const proxy = createServer((incoming, response) => void pass(incoming, response))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { url, statuses, close: () => proxy.close() }
}
