import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOwnership } from './ownership-file.parser.ts'

const parse = (text: string | Buffer, format: 'codeowners' | 'json') => parseOwnership(Buffer.from(text), format)

test('the rules of a CODEOWNERS file are counted, without comments and lines that are not valid', () => {
  const file = '# owners\n* @acme/all\n/docs/ docs@example.com # comment\n\n!bad @x\n/free/\n'
  assert.deepEqual(parse(file, 'codeowners'), { format: 'codeowners', rules: 3, error: null })
})

test('the rules of a JSON file are those of its list, or of its member `rules`', () => {
  const rules = [{ pattern: '*', owners: ['@acme/all'] }, { pattern: '/docs/', owners: [], next: 1 }, { owners: [] }, 5]
  for (const value of [rules, { version: 1, rules }]) {
    assert.deepEqual(parse(`\ufeff${JSON.stringify(value)}`, 'json'), { format: 'json', rules: 2, error: null })
  }
})

const lines = (count: number) => Array.from({ length: count }, (_, index) => `/f${index} @a`).join('\n')
const UNREAD: [why: string, file: string | Buffer, format: 'codeowners' | 'json', error: RegExp][] = [
  ['text that is not JSON', '* @acme', 'json', /not JSON/],
  ['JSON without a list', '{"owners":[]}', 'json', /list of rules/],
  ['more than 5,000 rules', lines(5001), 'codeowners', /5000 rules/],
  ['more than 10,000 rules', lines(10_001), 'codeowners', /5000 rules/],
  ['more than 256 KiB', '#'.repeat(262_145), 'codeowners', /262144 bytes/],
  ['bytes that are not UTF-8', Buffer.from([0x2a, 0x20, 0xff]), 'codeowners', /UTF-8/],
]

for (const [why, file, format, error] of UNREAD) {
  test(`a file with ${why} has an error`, () => {
    const result = parse(file, format)
    assert.equal(result.rules, 0)
    assert.match(result.error ?? '', error)
  })
}

test('a file at the limits is read', () => {
  assert.deepEqual(parse(lines(5000), 'codeowners'), { format: 'codeowners', rules: 5000, error: null })
  assert.equal(parse(`* @a\n${'#'.repeat(262_144 - 5)}`, 'codeowners').error, null)
})
