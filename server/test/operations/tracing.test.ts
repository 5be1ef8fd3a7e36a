import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWork } from '../../src/start/work.ts'
import { startTestApi } from '../support/api.ts'
import { createUpload, getUpload, putFile } from '../support/reports.ts'
import { sarifResult } from '../support/sarif.ts'
import { attributesOf, type CollectedSpan, startTraceCollector } from '../support/trace-collector.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const REPORT = { version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, results: [sarifResult('rule')] }] }
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`

test('a trace holds the request, its statements, and the job that it caused, and no secret and no value', async () => {
  await using collector = await startTraceCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'shiplock-test' }
  const api = await startTestApi({ env })
  const caller = await api.caller()
  const bytes = Buffer.from(JSON.stringify(REPORT))
  const created = await createUpload(api, caller, bytes)
  assert.ok((await putFile(created, bytes)).ok)
  const { id } = created.body.data.upload
  const headers = { traceparent: TRACEPARENT, 'x-request-id': 'the-request' }
  const completed = await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key, headers })
  assert.equal(completed.status, 200, completed.text)
  await api.request('GET', '/v1/findings?repository=query-value', { key: caller.key })
  const worker = await startWork(api.services, api.database)
  while ((await getUpload(api, caller, id)).status !== 'finished');
  await worker.close()
  await api.close()

  const ours = collector.spans().filter(({ traceId }) => traceId === TRACE_ID)
  const request = named(ours, 'POST /v1/security/uploads/:uploadId/complete')
  assert.equal(request.parentSpanId, 'b7ad6b7169203331')
  const stated = attributesOf(request)
  assert.equal(stated['http.response.status_code'], 200)
  assert.equal(stated['shiplock.request_id'], 'the-request')
  assert.equal(stated['shiplock.org_id'], caller.orgId)
  const children = ours.filter(({ parentSpanId }) => parentSpanId === request.spanId)
  assert.ok(children.some(({ name }) => name === 'begin'))
  assert.ok(children.some(({ name }) => name === 'update security_uploads'))
  assert.ok(children.some(({ name }) => name === 'objects stat'))

  const job = named(ours, 'job security.read-upload')
  assert.equal(job.parentSpanId, request.spanId)
  const reading = named(ours, 'read report')
  assert.equal(reading.parentSpanId, job.spanId)
  assert.equal(attributesOf(reading)['shiplock.report_format'], 'sarif')

  const { url } = created.body.data.put
  const secrets = [caller.key, new URL(url).searchParams.get('token') ?? url, 'query-value', 'acme/app']
  for (const secret of secrets) assert.ok(!collector.text().includes(secret), `a span contains ${secret}`)
  assert.match(collector.text(), /"shiplock-test"/)
})

test('a collector that never answers delays neither requests nor the stop', async () => {
  await using collector = await startTraceCollector(() => {})
  const api = await startTestApi({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  assert.equal((await api.request('GET', '/readyz')).status, 200)
  const startedAt = performance.now()
  await api.close()
  const stopMs = performance.now() - startedAt
  assert.ok(stopMs < 8_000, `stopping took ${stopMs} ms`)
})

test('a collector that is away hurts nothing, and an invalid traceparent starts a trace', async () => {
  const api = await startTestApi({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' } })
  for (const traceparent of ['', 'ff-0-0-0', '00-00000000000000000000000000000000-b7ad6b7169203331-01']) {
    assert.equal((await api.request('GET', '/readyz', { headers: { traceparent } })).status, 200)
  }
  await api.close()
})

test('with the sampler always_off, nothing is sent', async () => {
  await using collector = await startTraceCollector()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_off' }
  const api = await startTestApi({ env })
  assert.equal((await api.request('GET', '/readyz')).status, 200)
  await api.close()
  assert.equal(collector.text(), '')
})

function named(spans: CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name)
  assert.ok(found, `${name} is not among ${spans.map((span) => span.name).join(', ')}`)
  return found
}
