import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonStore } from './json-store.ts'

test('values are returned unchanged, even if there are many', () => {
  const store = new JsonStore()
  const values = Array.from({ length: 50_000 }, (_, index) => [index, `wörd-${'x'.repeat(index % 97)}\u0000`, null])
  const numbers = values.map((value) => store.add(value))
  for (const [index, number] of numbers.entries()) assert.deepEqual(store.get(number), values[index])
})

test('a value that fills a chunk is kept, a larger one is refused', () => {
  const store = new JsonStore()
  const largest = 'x'.repeat(1024 * 1024 - 6)
  const before = store.add('before')
  assert.equal(store.get(store.add(largest)), largest)
  assert.equal(store.get(before), 'before')
  assert.throws(() => store.add(`${largest}x`), RangeError)
})
