import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestApi } from '../support/api.ts'
import { runProgram, startProgram } from '../support/program.ts'

test('metrics of a program include those of its worker thread, and requests count by route and class', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-metrics-'))
  const running = await startProgram(dataDir, 'start', { SHIPLOCK_METRICS_PORT: '0' })
  try {
    const { url, metrics_url } = running.ready
    assert.equal((await fetch(`${url}/v1/runs`)).status, 401)
    assert.equal((await fetch(`${url}/metrics`)).status, 404, 'the port of the API has no metrics')
    assert.equal((await fetch(`${metrics_url}/v1/runs`)).status, 404, 'the port of the metrics has no API')
    // Scheduled jobs run within a minute.
    const text = await untilText(
      metrics_url,
      /^shiplock_job_duration_seconds_count\{task="[^"]+",outcome="succeeded"\}/m,
    )
    assert.match(
      text,
      /^shiplock_http_request_duration_seconds_count\{method="GET",route="\/v1\/runs",status="4xx"\} 1$/m,
    )
    assert.match(text, /^shiplock_database_pool_connections_max\{pool="shiplock worker"\} 16$/m)
    assert.match(text, /^shiplock_database_pool_connections_max\{pool="shiplock api"\} 16$/m)
    assert.match(text, /^shiplock_build_info\{version="[^"]+",node="24[^"]*"\} 1$/m)
    assert.match(text, /^process_start_time_seconds \d/m)
    assert.match(text, /^shiplock_data_free_bytes [1-9]/m)
  } finally {
    await running.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('a worker serves metrics and health only if it has a port for them', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-metrics-'))
  try {
    await runProgram(dataDir, ['migrate'])
    const without = await startProgram(dataDir, 'worker')
    assert.deepEqual(without.ready, { working: true })
    await without.stop()
    const running = await startProgram(dataDir, 'worker', { SHIPLOCK_METRICS_PORT: '0' })
    t.after(() => running.stop())
    const { metrics_url } = running.ready
    for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(metrics_url + path)).status, 200)
    await untilText(metrics_url, /^shiplock_database_pool_connections_max\{pool="shiplock worker"\} 16$/m)
    assert.equal(await running.stop(), 0)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('a scrape succeeds while the database is away, and states it', async (context) => {
  const api = await startTestApi()
  context.after(() => api.close())
  const up = async () => /^shiplock_database_up (\d)$/m.exec((await api.request('GET', '/metrics')).text)?.[1]
  assert.equal(await up(), '1')
  await api.services.sql.end()
  // The figures of the last scrape are kept for 5 seconds.
  while ((await up()) !== '0');
  const { status, text } = await api.request('GET', '/metrics')
  assert.equal(status, 200)
  assert.match(text, /^shiplock_http_request_duration_seconds_count/m)
  assert.doesNotMatch(text, /^shiplock_queue_jobs\{/m)
})

test('a port of the metrics that is the port of the API is a mistake in the settings', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-metrics-'))
  const { code, stderr } = await runProgram(dataDir, ['start'], {
    SHIPLOCK_PORT: '9000',
    SHIPLOCK_METRICS_PORT: '9000',
  })
  assert.deepEqual([code, stderr], [1, 'SHIPLOCK_METRICS_PORT must differ from SHIPLOCK_PORT\n'])
  rmSync(dataDir, { recursive: true, force: true })
})

async function untilText(url: string, pattern: RegExp): Promise<string> {
  const until = performance.now() + 180_000
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text()
    if (pattern.test(text)) return text
    assert.ok(performance.now() < until, `${pattern} is not in the metrics`)
  }
}
