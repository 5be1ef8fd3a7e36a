import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventStream } from './event-hub.ts'

const change = (at: number) => ({ type: 'run', id: `run-${at}` }) as const

function readAll({ readable }: EventStream): string {
  let text = ''
  for (let chunk = readable.read(); chunk !== null; chunk = readable.read()) text += chunk
  return text
}

/** Sends until the reader's buffer is full. */
function fill(stream: EventStream): void {
  for (let at = 0; at < 5000; at += 1) stream.send(change(at))
}

test('a reader that keeps up gets every event', () => {
  const stream = new EventStream(() => {})
  for (let at = 0; at < 100; at += 1) stream.send(change(at))
  assert.equal(readAll(stream).match(/run-\d+/g)?.length, 100)
})

test('a slow reader gets resync in place of what it missed, with bounded memory', async () => {
  const stream = new EventStream(() => {})
  fill(stream)
  assert.ok(stream.readable.readableLength < 100_000)
  const first = readAll(stream)
  await new Promise(setImmediate)
  const text = first + readAll(stream)
  assert.match(text, /event: resync/)
  const named = text.match(/run-\d+/g) ?? []
  assert.ok(named.length < 5000)
  stream.send(change(7))
  assert.match(readAll(stream), /run-7/)
})

test('a reader that takes nothing is disconnected', async () => {
  let isClosed = false
  const stream = new EventStream(() => {
    isClosed = true
  })
  fill(stream)
  for (let beats = 0; beats < 3; beats += 1) stream.heartbeat()
  await new Promise(setImmediate)
  assert.ok(isClosed)
})

test('ending is possible while the reader is slow, and events after it are dropped', async () => {
  for (const isSlow of [false, true]) {
    const stream = new EventStream(() => {})
    stream.readable.on('error', assert.fail)
    if (isSlow) fill(stream)
    stream.end()
    stream.end()
    stream.send(change(1))
    stream.heartbeat()
    stream.resync()
    await new Promise(setImmediate)
  }
})
