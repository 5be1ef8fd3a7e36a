import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAsker,
  EvaluationTimeError,
  type PolicyAsker,
  PolicyBudget,
  PolicyBudgetError,
  PolicyQueue,
} from './policy-queue.ts'

const [A, B, C] = ['a', 'b', 'c']
const SECOND_MS = 1000

/** A queue of two slots whose questions end when the test says so. */
function openQueue(now = () => 0) {
  const budget = new PolicyBudget(now)
  const queue = new PolicyQueue([1, 2], budget)
  const started: { name: string; end: (usedMs?: number) => Promise<void> }[] = []
  const ask = (name: string, asker: PolicyAsker, isRepository = false) =>
    queue.run(asker, isRepository, async () => {
      const { promise, resolve } = Promise.withResolvers<number>()
      const end = async (usedMs = 0) => {
        resolve(usedMs)
        await settle()
      }
      started.push({ name, end })
      return { answer: name, usedMs: await promise }
    })
  return { budget, ask, started, names: () => started.map(({ name }) => name) }
}

/** Lets everything go on that waits for nothing else. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('beside many questions of one organization, another finds a free process at once', async () => {
  const { ask, names } = openQueue()
  for (const name of ['a1', 'a2', 'a3']) void ask(name, createAsker(A))
  void ask('b1', createAsker(B))
  await settle()
  assert.deepEqual(names(), ['a1', 'b1'])
})

test('organizations take turns, gates first, and the own policies of an organization before those of repositories', async () => {
  const { ask, started, names } = openQueue()
  void ask('a1', createAsker(A))
  void ask('a2', createAsker(A))
  void ask('b1', createAsker(B))
  void ask('b2', createAsker(B))
  void ask('c1', createAsker(C))
  void ask('a file', createAsker(A, { isGate: true }), true)
  void ask('a gate', createAsker(A, { isGate: true }))
  for (let index = 0; index < 6; index += 1) {
    await settle()
    await started[index]?.end()
  }
  assert.deepEqual(names(), ['a1', 'b1', 'a gate', 'c1', 'a file', 'b2', 'a2'])
})

test('an organization that has used ten seconds in a minute waits; its repositories and others do not', async () => {
  let now = 0
  const { ask, started, names } = openQueue(() => now)
  void ask('a1', createAsker(A))
  await settle()
  await started[0]?.end(10 * SECOND_MS)
  void ask('a2', createAsker(A, { isGate: true }))
  void ask('a file', createAsker(A), true)
  void ask('b1', createAsker(B))
  await settle()
  assert.deepEqual(names(), ['a1', 'a file', 'b1'])
  await started[1]?.end(10 * SECOND_MS)
  void ask('a file 2', createAsker(A), true)
  await settle()
  assert.deepEqual(names(), ['a1', 'a file', 'b1'])
  now = 61 * SECOND_MS
  await started[2]?.end()
  assert.deepEqual(names(), ['a1', 'a file', 'b1', 'a2'])
})

test('a question that has waited too long is an error that names the budget', async () => {
  const { budget, ask } = openQueue()
  budget.spend(A, 10 * SECOND_MS)
  await assert.rejects(ask('a1', createAsker(A, { waitMs: 10 })), (error: Error) => {
    assert.ok(error instanceof PolicyBudgetError)
    assert.match(
      error.message,
      /^budget: the policies of the organization take too long \(they have 10 seconds a minute\)/,
    )
    return true
  })
  assert.equal(await Promise.race([ask('b1', createAsker(B)), settle().then(() => 'asked')]), 'asked')
})

test('of an organization, a thousand questions wait at most', async () => {
  const { budget, ask } = openQueue()
  budget.spend(A, 10 * SECOND_MS)
  const waiting = Array.from({ length: 1000 }, () => ask('a', createAsker(A, { waitMs: 50 })).catch(() => 'waited'))
  const asker = createAsker(A, { waitMs: 3_600_000 })
  await assert.rejects(ask('one more', asker), PolicyBudgetError)
  await Promise.all(waiting)
})

test('an evaluation whose time is over asks no more, and its waiting questions end at once', async () => {
  const { ask, started, names } = openQueue()
  const asker = createAsker(A)
  void ask('a1', asker)
  const waiting = assert.rejects(ask('a2', asker), EvaluationTimeError)
  await settle()
  asker.leftMs = 0
  await started[0]?.end()
  await waiting
  await assert.rejects(ask('a3', asker), EvaluationTimeError)
  assert.deepEqual(names(), ['a1'])
})

test('what was spent a minute ago is forgotten', () => {
  let now = 0
  const budget = new PolicyBudget(() => now)
  for (let second = 0; second < 20; second += 1) {
    now = second * SECOND_MS
    budget.spend(A, 0.6 * SECOND_MS)
  }
  assert.equal(budget.isLeft(A), false)
  now = 62 * SECOND_MS
  assert.equal(budget.isLeft(A), false)
  now = 64 * SECOND_MS
  assert.equal(budget.isLeft(A), true)
})
