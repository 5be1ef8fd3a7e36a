import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHexId, createRunId, createUuid, createUuidPrefix, createUuidSeries, getLowestUuid } from './ids.ts'

const NOW = new Date('2026-03-04T05:06:07.890Z')
const RUN_ID = /^run_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('a run id is run_ and 26 characters of Crockford base32, and fits the path parameter', () => {
  assert.match(createRunId(NOW), RUN_ID)
  assert.match(createRunId(NOW), /^[A-Za-z0-9._:-]{1,128}$/)
})

test('run ids of one instant sort in the order in which they were made', () => {
  const ids = Array.from({ length: 10_000 }, () => createRunId(NOW))
  assert.deepEqual(ids, [...ids].sort())
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, RUN_ID)
})

test('run ids of later instants sort after those of earlier ones', () => {
  const earlier = createRunId(NOW)
  assert.ok(createRunId(new Date(NOW.getTime() + 1)) > earlier)
})

test('a UUID has version 7 and contains the time in milliseconds', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }), (at) => {
      const id = createUuid(at)
      assert.match(id, UUID_V7)
      assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), at.getTime())
    }),
  )
})

test('the ids of a series are version 7 UUIDs of its time and sort by position', () => {
  for (let repetition = 0; repetition < 20; repetition += 1) {
    const idAt = createUuidSeries(NOW)
    const ids = [0, 1, 2, 255, 256, 65_535, 1_000_000, 2 ** 32 - 1].map(idAt)
    assert.deepEqual(ids, [...ids].sort())
    for (const id of ids) {
      assert.match(id, UUID_V7)
      assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), NOW.getTime())
    }
  }
  const idAt = createUuidSeries(NOW)
  const ids = Array.from({ length: 10_000 }, (_, position) => idAt(position))
  assert.deepEqual(ids, [...ids].sort())
  assert.equal(new Set(ids).size, ids.length)
})

test('a prefix and a position of 8 digits are a version 7 UUID', () => {
  const prefix = createUuidPrefix(NOW)
  assert.match(`${prefix}00000000`, UUID_V7)
  assert.match(`${prefix}ffffffff`, UUID_V7)
})

test('the lowest UUID of a millisecond is between those of the millisecond before and its own', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(1), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }), (at) => {
      const before = new Date(at.getTime() - 1)
      const lowest = getLowestUuid(at)
      assert.match(lowest, UUID_V7)
      assert.ok(lowest <= createUuid(at))
      assert.ok(lowest <= `${createUuidPrefix(at)}00000000`)
      assert.ok(lowest > createUuid(before))
      assert.ok(lowest > `${createUuidPrefix(before)}ffffffff`)
    }),
  )
  assert.equal(getLowestUuid(new Date(-1)), getLowestUuid(new Date(0)))
})

test('no two ids are alike', () => {
  for (const make of [() => createUuid(NOW), createHexId]) {
    assert.equal(new Set(Array.from({ length: 10_000 }, make)).size, 10_000)
  }
})

test('a hex id is 32 lowercase hex characters', () => {
  assert.match(createHexId(), /^[0-9a-f]{32}$/)
})
