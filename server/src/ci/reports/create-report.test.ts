import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { reportId } from './create-report.ts'

const ONE = {
  ...{ runId: 'run_1', attempt: 1, job_name: 'test', matrix: { os: 'linux', node: 24 }, name: 'default' },
  trust: 'self_reported' as const,
  job_identity: null as string | null,
}

const identities = fc.record({
  runId: fc.string(),
  attempt: fc.integer({ min: 1, max: 999 }),
  job_name: fc.string(),
  matrix: fc.option(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)))),
  name: fc.string(),
  trust: fc.constantFrom('verified', 'self_reported', 'untrusted'),
  job_identity: fc.option(fc.string()),
})

test('a report id is the attempt, a hyphen and 24 hexadecimal digits', () => {
  fc.assert(
    fc.property(identities, (identity) => {
      assert.match(reportId(identity), /^[1-9]\d{0,2}-[0-9a-f]{24}$/)
      assert.ok(reportId(identity).startsWith(`${identity.attempt}-`))
    }),
  )
})

test('the order of the keys of the matrix does not matter', () => {
  fc.assert(
    fc.property(identities, (identity) => {
      const reversed = identity.matrix && Object.fromEntries(Object.entries(identity.matrix).reverse())
      assert.equal(reportId({ ...identity, matrix: reversed }), reportId(identity))
    }),
  )
  assert.equal(reportId({ ...ONE, matrix: { node: 24, os: 'linux' } }), reportId(ONE))
})

test('an empty matrix equals no matrix', () => {
  assert.equal(reportId({ ...ONE, matrix: {} }), reportId({ ...ONE, matrix: null }))
})

test('a different run, attempt, job, matrix, name, lane, key or instance results in another id', () => {
  const others = [
    { runId: 'run_2' },
    { attempt: 2 },
    { job_name: 'Test' },
    { name: 'default ' },
    { trust: 'verified' as const },
    { trust: 'untrusted' as const },
    { matrix: null },
    { matrix: { os: 'linux' } },
    { matrix: { os: 'linux', node: '24' } },
    { matrix: { os: 'linux', node: 24, arch: null } },
    { matrix: { linux: 'os', node: 24 } },
    { job_identity: '{"key":"1"}' },
    { job_identity: '{"instance":"1"}' },
    { trust: 'verified' as const, job_identity: '{"key":"1"}' },
  ]
  const ids = [ONE, ...others.map((other) => ({ ...ONE, ...other }))].map(reportId)
  assert.equal(new Set(ids).size, ids.length)
})

test('text that moves from one field to the next results in another id', () => {
  const moved = [
    { ...ONE, job_name: 'ab', name: 'c', matrix: null },
    { ...ONE, job_name: 'a', name: 'bc', matrix: null },
    { ...ONE, job_name: 'ab","c', name: '', matrix: null },
  ]
  assert.equal(new Set(moved.map(reportId)).size, moved.length)
})

test('what API keys send has the id that it had before reports had lanes', () => {
  assert.equal(reportId(ONE), '1-8460b1a216f4ddc1316ffb6a')
})
