import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { applyDeliveries } from '../../src/codehosts/deliveries/apply-deliveries.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { applyingHandlers, createAppliedTable } from '../support/applied-runs.ts'
import { runProgram } from '../support/program.ts'
import { runPayload, sendWebhook, webhookHost } from '../support/webhooks.ts'

const SHARDS = 8

let api: TestApi

before(async () => {
  api = await startTestApi({ codeHosts: webhookHost() })
  await createAppliedTable(api.services.sql)
})
after(() => api?.close())

function run(...args: string[]) {
  return runProgram(api.services.config.dataDir, args, { DATABASE_URL: api.database.url })
}

async function applyAll(): Promise<void> {
  const handlers = applyingHandlers()
  for (let shard = 0; shard < SHARDS; shard += 1) await applyDeliveries({ ...api.services, handlers }, { shard })
}

test('provider deliveries lists the newest first, by status; provider replay queues one again', async () => {
  const unfit = randomUUID()
  const ignored = randomUUID()
  await sendWebhook(api, runPayload(1, 'unfit', { unfit: true, action: 'completed' }), { id: unfit })
  await sendWebhook(api, runPayload(1, 'ignored'), { id: ignored, event: 'star' })
  await applyAll()

  const all = await run('provider', 'deliveries', '--json')
  assert.equal(all.code, 0, all.stderr)
  assert.deepEqual(
    all.json.map(({ id }: { id: string }) => id),
    [ignored, unfit],
  )
  const failed = await run('provider', 'deliveries', '--status', 'failed', '--json')
  assert.deepEqual(failed.json, [
    {
      id: unfit,
      provider: 'github',
      event: 'workflow_run',
      action: 'completed',
      installation: '4711',
      status: 'failed',
      waiting: false,
      attempts: 1,
      error: 'workflow_run.id must be an integer',
      received_at: api.clock.now().toISOString(),
      applied_at: null,
    },
  ])
  assert.equal((await run('provider', 'deliveries', '--limit', '1', '--json')).json.length, 1)
  assert.match(
    (await run('provider', 'deliveries')).stdout,
    /^ID +EVENT +ACTION +STATUS +ATTEMPTS +RECEIVED AT +ERROR$/m,
  )

  const replayed = await run('provider', 'replay', unfit, '--json')
  assert.deepEqual([replayed.code, replayed.json], [0, { id: unfit, status: 'received' }])
  const pending = await run('provider', 'replay', unfit)
  assert.equal(pending.code, 1)
  assert.match(pending.stderr, /^The delivery has not been applied yet/m)
})

test('a mistake is reported in one line', async () => {
  for (const [args, code, line] of [
    [['deliveries', '--status', 'lost'], 2, /^--status must be one of received, applied, ignored, failed, not "lost"/m],
    [['deliveries', '--limit', '0'], 2, /^--limit must be an integer from 1 to 1000, not "0"/m],
    [['replay', 'nothing'], 1, /^The delivery does not exist\./m],
  ] as const) {
    const ended = await run('provider', ...args)
    assert.equal(ended.code, code, ended.stderr)
    assert.match(ended.stderr, line)
  }
})
