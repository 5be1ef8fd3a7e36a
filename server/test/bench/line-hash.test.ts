import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineHashes, lineHashOf } from '../../bench/tracking/line-hash.ts'
import { readResults } from '../../bench/tracking/reported-result.ts'

function hashes(text: string): (string | null)[] {
  const file = new LineHashes(text)
  return text.split(/\r\n|\r|\n/).map((_, index) => file.at(index + 1))
}

/** 65535 * 37^99 modulo 2^64: the mark of the end of the file and 99 zeros. */
const EMPTY_LINE_AT_END = 'c129715d7a2bc9a3:1'

test('an empty file has one line, which is only the mark of its end', () => {
  assert.equal(BigInt.asUintN(64, 65535n * 37n ** 99n).toString(16), 'c129715d7a2bc9a3')
  assert.deepEqual(hashes(''), [EMPTY_LINE_AT_END])
})

test('the hash of a line is the polynomial over its characters, the following lines and the end', () => {
  const block = ['a'.charCodeAt(0), 10, 'b'.charCodeAt(0), 0xffff]
  const expected = block.reduce((sum, code, index) => sum + BigInt(code) * 37n ** BigInt(99 - index), 0n)
  assert.equal(hashes('a\nb')[0], `${BigInt.asUintN(64, expected).toString(16)}:1`)
})

test('hashes equal those that the public description of the action gives', () => {
  assert.deepEqual(hashes(' a\nb\n  \t\tc\n d'), [
    '271789c17abda88f:1',
    '54703d4cd895b18:1',
    '180aee12dab6264:1',
    'a23a3dc5e078b07b:1',
  ])
})

test('spaces, tabs and the kind of line end do not matter', () => {
  const plain = hashes('if(a){\nb\n}\n')
  assert.deepEqual(hashes(' if (a) {\r\n\tb\r\n}\r\n'), plain)
  assert.deepEqual(hashes('if(a){\rb\r}\r'), plain)
  assert.notDeepEqual(hashes('if(a){\nB\n}\n'), plain)
})

test('a line that repeats with the same following 100 characters is counted', () => {
  const line = `${'x'.repeat(120)}\n`
  const [first, second, third] = hashes(line.repeat(3))
  assert.match(first ?? '', /:1$/)
  assert.equal(second, first?.replace(':1', ':2'))
  assert.equal(third, first?.replace(':1', ':3'))
})

test('text past 100 characters does not matter', () => {
  assert.equal(hashes(`${'x'.repeat(100)}a`)[0], hashes(`${'x'.repeat(100)}b`)[0])
  assert.notEqual(hashes(`${'x'.repeat(99)}a`)[0], hashes(`${'x'.repeat(99)}b`)[0])
})

test('a line that the file does not have has no hash', () => {
  assert.equal(new LineHashes('a\nb').at(3), null)
})

test('a hash that the scanner wrote is kept, and a result without a region gets the hash of line 1', () => {
  const location = { physicalLocation: { artifactLocation: { uri: 'a.c' } } }
  const results = [{ locations: [location], partialFingerprints: { primaryLocationLineHash: 'own:1' } }, {}]
  const [own, none] = readResults({ runs: [{ tool: { driver: { name: 'T' } }, results }] }, '')
  const file = new LineHashes('a\nb')
  assert.ok(own && none)
  assert.equal(lineHashOf(own, file), 'own:1')
  assert.equal(lineHashOf(none, file), file.at(1))
  assert.equal(lineHashOf(none, null), null)
})
