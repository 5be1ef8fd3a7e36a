import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { WebhookBodies } from './read-webhook-body.ts'

const SECOND_BYTES_MIN = 128 * 2 ** 10
const LARGE = Buffer.alloc(256 * 2 ** 10 + 1)

/** Bodies of one network, and seconds that pass when the test says so. */
function startReading(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const bodies = new WebhookBodies()
  const start = (use: (body: Buffer) => Promise<unknown> = async ({ byteLength }) => byteLength) => {
    const raw = new PassThrough({ highWaterMark: 2 ** 20 })
    const request = { raw, headers: {}, ip: '192.0.2.1' } as unknown as FastifyRequest
    const outcome: { value?: unknown; status?: number } = {}
    const done = bodies.read(request, use).then(
      (value) => Object.assign(outcome, { value }),
      ({ status }) => Object.assign(outcome, { status }),
    )
    return { raw, outcome, done }
  }
  const pass = async (seconds: number, eachSecond = () => {}) => {
    for (let at = 0; at < seconds; at += 1) {
      eachSecond()
      await nextTurn()
      t.mock.timers.tick(1000)
      await nextTurn()
    }
  }
  return { start, pass }
}

test('a small body may be slow for ten seconds', async (t) => {
  const { start, pass } = startReading(t)
  const { raw, outcome } = start()
  raw.write('a')
  await pass(9)
  assert.deepEqual(outcome, {})
  await pass(1)
  assert.deepEqual(outcome, { status: 408 })
})

test('a large body needs 128 KiB a second, and has ten seconds in all', async (t) => {
  const { start, pass } = startReading(t)
  const [steady, slower] = [start(), start()]
  for (const { raw } of [steady, slower]) raw.write(LARGE)
  await pass(8, () => {
    steady.raw.write(Buffer.alloc(SECOND_BYTES_MIN))
    slower.raw.write(Buffer.alloc(SECOND_BYTES_MIN - 1))
  })
  assert.deepEqual(steady.outcome, {})
  assert.deepEqual(slower.outcome, { status: 408 })
  await pass(1, () => steady.raw.write(Buffer.alloc(SECOND_BYTES_MIN)))
  assert.deepEqual(steady.outcome, { status: 408 })
})

test('the time in which a body waits for its slot is not time in which it is read', async (t) => {
  const { start, pass } = startReading(t)
  const door = Promise.withResolvers<void>()
  const held = [start(() => door.promise), start(() => door.promise)]
  for (const { raw } of held) raw.end(LARGE)
  await nextTurn()
  const patient = start()
  patient.raw.write(LARGE)
  await pass(1)
  const late = start()
  late.raw.write(LARGE)
  await pass(18)
  door.resolve()
  await nextTurn()
  patient.raw.end('the rest')
  await patient.done
  assert.deepEqual(patient.outcome, { value: LARGE.byteLength + 'the rest'.length })
  await pass(1)
  assert.deepEqual(late.outcome, { status: 408 })
})

test('503 after 20 seconds without a slot', async (t) => {
  const { start, pass } = startReading(t)
  const held = [start(() => new Promise(() => {})), start(() => new Promise(() => {}))]
  for (const { raw } of held) raw.end(LARGE)
  await nextTurn()
  const { raw, outcome } = start()
  raw.write(LARGE)
  await pass(19)
  assert.deepEqual(outcome, {})
  await pass(1)
  assert.deepEqual(outcome, { status: 503 })
})

test('a client that has left before its body is read is an error', async (t) => {
  const { start } = startReading(t)
  const { raw, done, outcome } = start()
  raw.destroy()
  await done
  assert.ok('status' in outcome)
})
