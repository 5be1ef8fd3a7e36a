import assert from 'node:assert/strict'
import { test } from 'node:test'
import { affectedComponents, isUnaffected } from './affected.ts'

const unaffected = (version: string | null, ...versions: Record<string, string>[]) =>
  isUnaffected({ ref: 'a', versions }, version)

test('a component counts once, with the versions of all its entries', () => {
  const affects = [
    { ref: 'a', versions: [{ version: '1' }] },
    { ref: 'b' },
    { ref: 'a', versions: [{ version: '2' }] },
    {},
    null,
  ]
  assert.deepEqual(affectedComponents({ affects }), [
    { ref: 'a', versions: [{ version: '1' }, { version: '2' }] },
    { ref: 'b', versions: [] },
  ])
})

test("a component is unaffected where its own version is said to be, whatever is said of others'", () => {
  const own = { version: '2.5', status: 'unaffected' }
  assert.equal(unaffected('2.5', own, { version: '2.4', status: 'affected' }), true)
  assert.equal(unaffected('2.5', own, { version: '2.5', status: 'affected' }), false)
})

test('an unaffected version beside its own is what fixes it, and does not settle it', () => {
  assert.equal(unaffected('2.3', { version: '2.4.9', status: 'unaffected' }), false)
  assert.equal(unaffected('2.3', { range: 'vers:semver/>=2.4.9', status: 'unaffected' }), false)
})

test('a component of unknown version is unaffected where only unaffected versions are named', () => {
  assert.equal(unaffected(null, { range: 'vers:generic/>=1.0|<=4.4', status: 'unaffected' }), true)
  assert.equal(unaffected(null, { version: '1', status: 'unaffected' }, { version: '2' }), false)
  assert.equal(unaffected(null), false)
})
