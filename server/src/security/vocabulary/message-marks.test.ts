import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatWithLocations, listPlaces, parseMessage } from './message-marks.ts'

const sentence = (text: string) => parseMessage(text, null).sentence
const literals = (text: string) => parseMessage(text, null).literals

test('a sentence has no names and numbers, so that only another wording is another sentence', () => {
  assert.equal(
    sentence("'foo' is assigned a value but never used."),
    sentence('`bar baz` is assigned a value but never used.'),
  )
  assert.equal(sentence('lib-a@1.0.0 has CVE-2024-10000'), sentence('other_lib@2 has GHSA-aaaa-bbbb-cccc'))
  assert.notEqual(sentence('Eval of a constant'), sentence('Eval of a request parameter'))
})

test('literals are the names and numbers that a message states', () => {
  assert.notEqual(literals('Port 22 is open'), literals('Port 80 is open'))
  assert.notEqual(literals("Variable 'a' is unused"), literals("Variable 'b' is unused"))
  assert.equal(literals("Variable 'a' is unused"), literals("There is an unused variable 'a'"))
  assert.notEqual(literals('uses nginx:1.25'), literals('uses nginx:1.26'))
})

test('white space, lines and measured amounts are no difference', () => {
  const text = (message: string) => parseMessage(message, null).text
  for (const [one, other] of [
    ['Function  has a complexity of 17\n(15 allowed)', 'Function has a complexity of 18 (15 allowed)'],
    ['Line too long (120 > 100 characters)', 'Line too long (131 > 100 characters)'],
    ['Pool.take() (c/Pool.sol#20-60) ignores it', 'Pool.take() (c/Pool.sol#24-64) ignores it'],
    ['Declared at line 12', 'Declared at line 14'],
  ] as const)
    assert.equal(text(one), text(other), one)
  assert.notEqual(text('Port 22'), text('Port 80'))
})

test('the path of the finding is no mark of its message, and other locations are no part of it', () => {
  assert.equal(
    parseMessage('Secret in src/a.ts.', 'src/a.ts').text,
    parseMessage('Secret in src/b.ts.', 'src/b.ts').text,
  )
  const description = formatWithLocations('Reentrancy', ['src/b.sol:7', 'src/c.sol'])
  assert.deepEqual(parseMessage(description, 'src/a.sol'), {
    ...parseMessage('Reentrancy', null),
    others: ['src/b.sol', 'src/c.sol'],
  })
})

test('the number of locations that a list leaves out is no file', () => {
  const { others, unlisted } = parseMessage(formatWithLocations('Reentrancy', ['src/b.sol:7', 'and 12 more']), null)
  assert.deepEqual([others, unlisted], [['src/b.sol'], 12])
  assert.deepEqual(listPlaces('and 12 more'), [])
  assert.deepEqual(listPlaces('src/and 12 more'), ['src/and 12 more'])
})
