import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Claims } from './claims.ts'
import { ClaimPattern, type Conditions, checkConditions, matchConditions, toConditions } from './conditions.ts'

const CASES: [holds: boolean, Conditions, Claims][] = [
  [true, { repository_id: '7' }, { repository_id: 7 }],
  [true, { ref_protected: 'true' }, { ref_protected: true }],
  [true, { groups: 'acme/*' }, { groups: ['other/x', 'acme/platform'] }],
  [true, { a: ['1', '2'] }, { a: '2' }],
  [true, { a: '1', b: '2' }, { a: '1', b: '2', c: '3' }],
  [false, { a: '1', b: '2' }, { a: '1', b: '3' }],
  [false, { a: '1' }, {}],
  [false, { a: '**' }, { a: null }],
  [false, { a: '**' }, { a: '' }],
  [false, { a: '**' }, { a: {} }],
  [false, { a: '**' }, { a: [] }],
  [false, { a: '**' }, { a: [['x']] }],
  [false, { toString: '**' } as unknown as Conditions, {}],
  // Beyond 2^53, JSON.parse makes two ids one.
  [false, { id: '9007199254740992' }, { id: 2 ** 53 }],
]

for (const [holds, conditions, claims] of CASES) {
  test(`${JSON.stringify(conditions)} ${holds ? 'holds' : 'does not hold'} for ${JSON.stringify(claims)}`, () => {
    assert.equal(matchConditions(toConditions(conditions), claims), holds)
    const every = checkConditions(conditions, claims).every(({ matches }) => matches)
    assert.equal(every, holds)
  })
}

const EXAMPLES: [pattern: string, matches: string[], differs: string[]][] = [
  ['acme/shop', ['acme/shop'], ['acme/shops', 'Acme/shop', 'acme', '']],
  ['acme/*', ['acme/shop', 'acme/'], ['acme/shop/x', 'acme', 'acme2/shop', 'x/acme/shop']],
  ['acme/sh*p', ['acme/shop', 'acme/shp'], ['acme/sh/p', 'acme/shops']],
  ['acme/**', ['acme/shop', 'acme/a/b/c', 'acme/'], ['acme', 'acme2/shop']],
  ['**/shop', ['shop', 'acme/shop', 'a/b/shop'], ['acme/workshop', 'shop/']],
  ['refs/**/main', ['refs/main', 'refs/heads/main', 'refs/a/b/main'], ['refs/heads/xmain', 'refsmain']],
  ['repo:acme/shop:*', ['repo:acme/shop:pull_request'], ['repo:acme/shop:ref:refs/heads/main']],
  ['repo:acme/shop:**', ['repo:acme/shop:pull_request', 'repo:acme/shop:ref:refs/heads/main'], ['repo:acme/shop']],
  ['*', ['x', 'repo:x'], ['a/b']],
  ['**', ['x', 'a/b', 'line\nbreak'], []],
  ['***', ['a/b', ''], []],
  ['a?{b,c}[d](e)|.+\\', ['a?{b,c}[d](e)|.+\\'], ['axb', 'ab']],
  ['{8864CD24-449d-4441-8862-cf4fe8ad6caa}', ['8864CD24-449d-4441-8862-cf4fe8ad6caa'], ['{}', 'x']],
  ['8864cd24-449d-4441-8862-cf4fe8ad6caa', ['{8864cd24-449d-4441-8862-cf4fe8ad6caa}'], ['{main}']],
  ['main', ['main'], ['{main}']],
]

for (const [pattern, matches, differs] of EXAMPLES) {
  test(`${JSON.stringify(pattern)} matches what it should`, () => {
    for (const text of matches) assert.ok(new ClaimPattern(pattern).matches(text), text)
    for (const text of differs) assert.ok(!new ClaimPattern(pattern).matches(text), text)
  })
}

/** The definition again, as a regular expression. */
function toRegex(pattern: string): RegExp {
  const source = pattern.replaceAll(/(?<=^|\/)\*\*\/|\*\*|\*|./gs, (token) => {
    if (token === '**/') return '(?:.*/)?'
    if (token === '**') return '.*'
    return token === '*' ? '[^/]*' : token.replace(/[^a-z]/, '\\$&')
  })
  return new RegExp(`^${source}$`, 's')
}

const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 7 })
const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 9 })

test('an asterisk matches in texts of up to 2,000 characters', () => {
  const pattern = new ClaimPattern('acme/*')
  assert.ok(pattern.matches(`acme/${'a'.repeat(1995)}`))
  assert.ok(!pattern.matches(`acme/${'a'.repeat(1996)}`))
})

test('a pattern matches what its regular expression matches', () => {
  fc.assert(
    fc.property(pattern, text, (given, seen) => {
      assert.equal(new ClaimPattern(given).matches(seen), toRegex(given).test(seen), `${given} ${seen}`)
    }),
    { numRuns: 3000 },
  )
})

test('a UUID is the same in any case, with and without braces', () => {
  const uuid = '0d4d6c1e-5f5a-4f5b-9a51-0f1f8a2f9b3c'
  const spellings = [uuid, uuid.toUpperCase(), `{${uuid}}`, `{${uuid.toUpperCase()}}`]
  for (const one of spellings)
    for (const other of spellings) assert.ok(new ClaimPattern(one).matches(other), `${one} ${other}`)
  assert.ok(!new ClaimPattern(uuid).matches(uuid.replace('0', '1')))
})

test('a hostile pattern is matched in little time', () => {
  const hostile = new ClaimPattern('*a'.repeat(150))
  const startedAt = performance.now()
  assert.ok(!hostile.matches(`${'a'.repeat(1990)}/`))
  assert.ok(!new ClaimPattern('**a*a/**/'.repeat(20).slice(0, 150)).matches('a/'.repeat(1000)))
  assert.ok(performance.now() - startedAt < 5000)
})
