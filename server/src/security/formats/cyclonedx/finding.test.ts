import assert from 'node:assert/strict'
import { test } from 'node:test'
import { affectedComponents, fixedVersionIn, isUnaffected } from './parser.ts'

const unaffected = (version: string | null, ...versions: Record<string, string>[]) =>
  isUnaffected({ ref: 'a', versions }, version)

test('a component is listed once, with the versions of all its entries', () => {
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

test('a component is unaffected if its own version is, whatever the status of other versions', () => {
  const own = { version: '2.5', status: 'unaffected' }
  assert.equal(unaffected('2.5', own, { version: '2.4', status: 'affected' }), true)
  assert.equal(unaffected('2.5', own, { version: '2.5', status: 'affected' }), false)
})

test('an unaffected other version or range does not dismiss the finding', () => {
  assert.equal(unaffected('2.3', { version: '2.4.9', status: 'unaffected' }), false)
  assert.equal(unaffected('2.3', { range: 'vers:semver/>=2.4.9', status: 'unaffected' }), false)
})

test('a component of unknown version is unaffected if all listed versions are', () => {
  assert.equal(unaffected(null, { range: 'vers:generic/>=1.0|<=4.4', status: 'unaffected' }), true)
  assert.equal(unaffected(null, { version: '1', status: 'unaffected' }, { version: '2' }), false)
  assert.equal(unaffected(null), false)
})

test('the version that a recommendation names is the fixed version', () => {
  const fixed: Record<string, string> = {
    'Upgrade jquery to version 3.4.0': '3.4.0',
    'Update to 2.4.9 or later': '2.4.9',
    'Upgrade com.a:b to version 2.6.7.5, 2.8.11.1, 2.9.5 or higher.': '2.6.7.5, 2.8.11.1, 2.9.5',
    'Fixed in v1.8.2.': '1.8.2',
    'Upgrade openssl to version 1:3.0.2-0ubuntu1.12+esm1': '1:3.0.2-0ubuntu1.12+esm1',
    'Upgrade to version 7': '7',
    'v1.2.3': '1.2.3',
  }
  for (const [text, version] of Object.entries(fixed)) assert.equal(fixedVersionIn(text, null), version)
})

test('in a recommendation for several packages, the clause that names the package counts', () => {
  const text = 'Upgrade a to version 1.2.3; Upgrade @scope/b to version 2.0-r1'
  assert.equal(fixedVersionIn(text, '@scope/b'), '2.0-r1')
  assert.equal(fixedVersionIn(text, 'c'), null)
})

test('a recommendation without a version has no fixed version', () => {
  for (const text of [null, '', 'Upgrade to 64-bit', 'See https://x.example/1.2', 'to '.repeat(100_000)])
    assert.equal(fixedVersionIn(text, null), null)
})
