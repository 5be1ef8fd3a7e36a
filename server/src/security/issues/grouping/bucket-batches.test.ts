import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketBatches } from './bucket-batches.ts'
import type { Member } from './member.ts'

function member(bucket: number, id: string | null = null): Member {
  return { bucket: String(bucket), id } as Member
}

test('no bucket is divided, nothing is lost, and no part grows with the report', () => {
  const members = Array.from({ length: 100_000 }, (_, at) => member((at * 7919) % 5000))
  const batches = bucketBatches(members)
  assert.equal(batches.flat().length, members.length)
  const buckets = batches.map((batch) => new Set(batch.map(({ bucket }) => bucket)))
  assert.equal(
    buckets.reduce((sum, { size }) => sum + size, 0),
    5000,
  )
  assert.ok(Math.max(...batches.map(({ length }) => length)) < 20_100)
})

test('all buckets that hold something stored are in the first part', () => {
  const fresh = Array.from({ length: 30_000 }, (_, at) => member(at))
  const [first = []] = bucketBatches([...fresh, member(3, 'a'), member(29_000, 'b')])
  assert.deepEqual(new Set(first.map(({ bucket }) => bucket)), new Set(['3', '29000']))
  assert.equal(first.length, 4)
})

test('a report without findings has no part', () => {
  assert.deepEqual(bucketBatches([]), [])
})
