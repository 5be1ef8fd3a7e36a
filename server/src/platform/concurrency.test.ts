import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batch } from './concurrency.ts'

/** A batch whose runs are recorded and end when the test ends them. */
function heldBatch() {
  const goes: { items: number[]; end: () => void }[] = []
  const batch = new Batch<number, string>(
    (items) => new Promise((resolve) => goes.push({ items, end: () => resolve(items.map(String)) })),
  )
  return { batch, goes }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('calls at the same time run as one batch, and each receives its own result', async () => {
  const { batch, goes } = heldBatch()
  const answers = Promise.all([batch.add(1), batch.add(2), batch.add(3)])
  await nextTurn()
  assert.deepEqual(
    goes.map(({ items }) => items),
    [[1, 2, 3]],
  )
  goes[0]?.end()
  assert.deepEqual(await answers, ['1', '2', '3'])
})

test('a single call does not wait, and a later call waits only while all batches are running', async () => {
  const { batch, goes } = heldBatch()
  const answers: Promise<string>[] = []
  for (const item of [1, 2, 3, 4, 5]) {
    answers.push(batch.add(item))
    await nextTurn()
  }
  assert.deepEqual(
    goes.map(({ items }) => items),
    [[1], [2], [3]],
  )
  goes[0]?.end()
  await answers[0]
  await nextTurn()
  await nextTurn()
  assert.deepEqual(goes[3]?.items, [4, 5])
  for (const { end } of goes) end()
  assert.deepEqual(await Promise.all(answers), ['1', '2', '3', '4', '5'])
})

test('a bad item fails alone', async () => {
  const batch = new Batch<number, number>(async (items) => {
    if (items.includes(2)) throw new Error('two')
    return items
  })
  const answers = await Promise.allSettled([batch.add(1), batch.add(2), batch.add(3)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('more than fit into one go are all done', async () => {
  const batch = new Batch<number, number>(async (items) => items)
  const items = Array.from({ length: 1000 }, (_, item) => item)
  assert.deepEqual(await Promise.all(items.map((item) => batch.add(item))), items)
})
