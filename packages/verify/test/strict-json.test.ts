import assert from 'node:assert/strict'
import { test } from 'node:test'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { canonicalJson } from '../src/canonical-json.ts'
import { parseStrictJson } from '../src/strict-json.ts'

const parse = (text: string | Buffer) => parseStrictJson(Buffer.from(text as string), 'it')

test('JSON values are parsed as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = JSON.stringify(value, null, 1)
      assert.deepEqual(parse(text), JSON.parse(text))
    }),
  )
})

test('the canonical form is that of a library', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      assert.equal(canonicalJson(value), canonicalize(value))
    }),
  )
})

const REFUSED: [what: string, text: string | Buffer, message: RegExp][] = [
  ['nothing', '', /it is not JSON/],
  ['binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0x00]), /it is not text/],
  ['a byte order mark', '\ufeff{}', /it is not JSON/],
  ['a truncated document', '{"a": [1, {"b": "c', /it is not JSON/],
  ['surplus text', '{} {}', /it is not JSON/],
  ['a duplicate key', '{"a": 1, "b": {"c": [{}]}, "a": 2}', /has the key "a" twice/],
  ['a duplicate key, escaped', '{"a": 1, "\\u0061" : 2}', /has the key "a" twice/],
  ['a duplicate key in a list', '[{"b": 0}, {"a": ":", "a": 2}]', /has the key "a" twice/],
  ['deep lists', '['.repeat(1_000_000), /nested more than 100 levels/],
  ['deep objects', '{"a":'.repeat(1_000_000), /nested more than 100 levels/],
]

for (const [what, text, message] of REFUSED) {
  test(`${what} is refused`, () => assert.throws(() => parse(text), { message }))
}

test('equal keys of different objects are accepted', () => {
  assert.deepEqual(parse('{"a": {"a": ["a", {"a": "a:"}]}, "b": {"a": 1}}'), {
    a: { a: ['a', { a: 'a:' }] },
    b: { a: 1 },
  })
})

test('half of a surrogate pair has no canonical form', () => {
  assert.throws(() => canonicalJson(parse('{"a": "\\ud800"}')), /surrogate/)
})
