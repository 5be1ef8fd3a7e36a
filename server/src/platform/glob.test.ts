import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GLOB_CHARS_MAX, matchGlob, validateGlob } from './glob.ts'

const MATCHES: [pattern: string, matching: string[], other: string[]][] = [
  ['*', ['production', 'a/b', '', '.'], []],
  ['**', ['production', 'a/b', ''], []],
  ['main', ['main'], ['Main', 'main2', 'x/main', '']],
  ['release/*', ['release/1', 'release/.x'], ['release', 'release/1/2', 'release/']],
  ['release/**', ['release/1', 'release/1/2'], ['releases/1']],
  ['**/api', ['acme/api', 'github.com/acme/api', 'api'], ['acme/api2']],
  ['prod-?', ['prod-1'], ['prod-12', 'prod-', 'prod-/']],
  ['{staging,production}', ['staging', 'production'], ['stagingproduction', 'test']],
  ['acme/{api,web}-*', ['acme/api-x', 'acme/web-y'], ['acme/api', 'acme/cli-x']],
  ['Production (EU)', ['Production (EU)'], ['Production EU']],
  ['!main', ['!main'], ['other']],
  ['!m*', ['!main'], ['other', 'main']],
  ['a+b*', ['a+bc'], ['aab', 'aabc']],
]

for (const [pattern, matching, other] of MATCHES) {
  test(`${pattern} matches ${matching.join(', ')}${other.length > 0 ? ` and not ${other.join(', ')}` : ''}`, () => {
    assert.equal(validateGlob(pattern), null)
    for (const text of matching) assert.equal(matchGlob(pattern, text), true, text)
    for (const text of other) assert.equal(matchGlob(pattern, text), false, text)
  })
}

test('a pattern that can take excessive time, or that other tools read differently, is refused with a reason', () => {
  const refused = ['', 'x'.repeat(GLOB_CHARS_MAX + 1), '*a*a*a*b', '(a*)+', '[0-9]*', 'v{1..3}', '{a,b', '{a,{b}}*']
  refused.push('**/a/**/b/**', '{a}{b}{c}', 'a|b*', '\\*', '{a*,b*}c*d*')
  for (const pattern of refused) assert.equal(typeof validateGlob(pattern), 'string', pattern)
})

test('a refused pattern with wildcards matches only itself', () => {
  for (const pattern of ['(a*)+', '*a*a*a*b', '[0-9]*']) {
    assert.equal(matchGlob(pattern, 'aaab'), false)
    assert.equal(matchGlob(pattern, pattern), true)
  }
})

const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '/', '{', '}', ',', '-'), maxLength: 30 })

test('every accepted pattern is fast on adversarial text', () => {
  const texts = ['a'.repeat(299), 'a/'.repeat(149), 'ab'.repeat(149), 'aa/'.repeat(99)].map((text) => `${text}c`)
  fc.assert(
    fc.property(part, (pattern) => {
      if (validateGlob(pattern) !== null) return
      const before = process.cpuUsage()
      for (const text of texts) matchGlob(pattern, text)
      const { user, system } = process.cpuUsage(before)
      assert.ok(user + system < 2_000_000, pattern)
    }),
    { numRuns: 300 },
  )
})

test('a literal matches itself and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (pattern, text) => {
      if (/[*?{]/.test(pattern)) return
      assert.equal(matchGlob(pattern, text), pattern === text)
    }),
  )
})
