import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixedVersionIn } from './fixed-version.ts'

test('a version that a recommendation plainly names is the fixed one', () => {
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

test('of several packages the one that is meant tells its version', () => {
  const text = 'Upgrade a to version 1.2.3; Upgrade @scope/b to version 2.0-r1'
  assert.equal(fixedVersionIn(text, '@scope/b'), '2.0-r1')
  assert.equal(fixedVersionIn(text, 'c'), null)
})

test('what names no version is none', () => {
  for (const text of [null, '', 'Upgrade to 64-bit', 'See https://x.example/1.2', 'to '.repeat(100_000)])
    assert.equal(fixedVersionIn(text, null), null)
})
