import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EvaluationTimeError, PolicyAsker, PolicyBudget, PolicyBudgetError, PolicyQueue } from './policy-queue.ts'

const [A, B, C] = ['a', 'b', 'c']
const SECOND_MS = 1000

/** Queues whose questions end when the test says so, and a clock. */
function openQueues(slots: number[] = [2]) {
  let now = 0
  const clock = () => now
  const budget = new PolicyBudget(clock)
  const queues = slots.map((count) => new PolicyQueue(Array.from({ length: count }).fill(null), budget))
  const started: { name: string; leftMs: number; end: (usedMs?: number | null) => Promise<void> }[] = []
  const ask = (name: string, asker: PolicyAsker, queue = 0) =>
    (queues[queue] as PolicyQueue<unknown>).run(asker, async (_slot, leftMs) => {
      const { promise, resolve } = Promise.withResolvers<number | null>()
      const end = async (usedMs: number | null = 0) => {
        resolve(usedMs)
        await settle()
      }
      started.push({ name, leftMs, end })
      return { answer: name, usedMs: await promise }
    })
  return {
    ...{ budget, ask, started, names: () => started.map(({ name }) => name) },
    createAsker: (org_id: string | null, options = {}) => new PolicyAsker(org_id, { now: clock, ...options }),
    advance: (ms: number) => {
      now += ms
    },
  }
}

/** Lets everything go on that waits for nothing else. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('beside many questions of one organization, another finds a free process at once', async () => {
  const { ask, names, createAsker } = openQueues()
  for (const name of ['a1', 'a2', 'a3']) void ask(name, createAsker(A))
  void ask('b1', createAsker(B))
  await settle()
  assert.deepEqual(names(), ['a1', 'b1'])
})

test('organizations take turns, gates first', async () => {
  const { ask, started, names, createAsker } = openQueues()
  for (const name of ['a1', 'a2']) void ask(name, createAsker(A))
  for (const name of ['b1', 'b2']) void ask(name, createAsker(B))
  void ask('c1', createAsker(C))
  void ask('a gate', createAsker(A, { isGate: true }))
  for (let index = 0; index < 5; index += 1) {
    await settle()
    await started[index]?.end()
  }
  assert.deepEqual(names(), ['a1', 'b1', 'a gate', 'c1', 'b2', 'a2'])
})

test('gates without end do not keep the questions of others from their turn', async () => {
  const { ask, started, names, createAsker } = openQueues([1])
  for (let number = 0; number < 8; number += 1) void ask(`gate ${number}`, createAsker(A, { isGate: true }))
  void ask('b1', createAsker(B))
  for (let index = 0; index < 5; index += 1) {
    await settle()
    await started[index]?.end()
  }
  assert.deepEqual(names(), ['gate 0', 'gate 1', 'gate 2', 'b1', 'gate 3', 'gate 4'])
})

test('an organization that has used ten seconds in a minute waits; its repositories, others and the operator do not', async () => {
  const { ask, started, names, createAsker, advance } = openQueues()
  const ofFile = () => createAsker(A, { isRepository: true, isGate: true })
  void ask('a1', createAsker(A, { isGate: true }))
  await settle()
  await started[0]?.end(10 * SECOND_MS)
  void ask('a2', createAsker(A, { isGate: true }))
  void ask('a file', ofFile())
  await settle()
  await started[1]?.end(10 * SECOND_MS)
  void ask('a file 2', ofFile())
  void ask('b1', createAsker(B))
  void ask('operator', createAsker(null))
  await settle()
  assert.deepEqual(names(), ['a1', 'a file', 'b1', 'operator'])
  advance(61 * SECOND_MS)
  await started[2]?.end()
  await started[3]?.end()
  assert.deepEqual(names(), ['a1', 'a file', 'b1', 'operator', 'a2'])
})

test('what is not of a gate leaves half of the budget to gates', async () => {
  const { ask, started, names, createAsker } = openQueues()
  void ask('a1', createAsker(A))
  await settle()
  await started[0]?.end(5 * SECOND_MS)
  void ask('a2', createAsker(A))
  void ask('a gate', createAsker(A, { isGate: true }))
  await settle()
  assert.deepEqual(names(), ['a1', 'a gate'])
})

test('a question that has waited too long is an error that names the budget, or that others were served', async () => {
  const { budget, ask, createAsker } = openQueues([1])
  budget.spend({ org_id: A, isRepository: false }, 10 * SECOND_MS)
  const spent =
    /^Error: budget: the policies of the organization take too long \(they have 10 seconds a minute\), and this one waited 0.01 seconds/
  await assert.rejects(ask('a1', createAsker(A, { waitMs: 10 })), spent)
  void ask('b1', createAsker(B))
  await assert.rejects(
    ask('c1', createAsker(C, { waitMs: 10 })),
    /^Error: budget: the policies of others were evaluated, and this one waited 0.01 seconds/,
  )
})

test('of an organization, a thousand questions wait at most', async () => {
  const { budget, ask, createAsker } = openQueues()
  budget.spend({ org_id: A, isRepository: false }, 10 * SECOND_MS)
  for (let number = 0; number < 1000; number += 1) ask('a', createAsker(A)).catch(() => {})
  await assert.rejects(ask('one more', createAsker(A)), PolicyBudgetError)
})

test('an evaluation whose time is over asks no more: what waits in any queue ends before it starts', async () => {
  const { ask, started, names, createAsker, advance } = openQueues([2, 8])
  const asker = createAsker(A)
  void ask('a1', asker)
  const waiting = assert.rejects(ask('a2', asker), EvaluationTimeError)
  const ends = [1, 2, 3, 4].map((number) => ask(`server ${number}`, asker, 1).catch(() => {}))
  const late = assert.rejects(
    ask('server 5', asker, 1),
    /^Error: budget: the evaluation took more than 5 seconds in all$/,
  )
  await settle()
  advance(6 * SECOND_MS)
  for (const { end } of started) await end()
  await Promise.all([waiting, late, ...ends])
  await assert.rejects(ask('a3', asker), EvaluationTimeError)
  assert.deepEqual(names(), ['a1', 'server 1', 'server 2', 'server 3', 'server 4'])
})

test('questions side by side use the time of an evaluation once, and no time that they wait', async () => {
  const { ask, started, createAsker, advance } = openQueues([2, 8])
  const asker = createAsker(A)
  void ask('a1', asker)
  for (const name of ['s1', 's2']) void ask(name, asker, 1)
  await settle()
  advance(2 * SECOND_MS)
  for (const { end } of started) await end()
  assert.equal(asker.leftMs, 3 * SECOND_MS)
  advance(60 * SECOND_MS)
  assert.equal(asker.leftMs, 3 * SECOND_MS)
  void ask('a2', asker)
  await settle()
  assert.equal(started.at(-1)?.leftMs, 3 * SECOND_MS)
})

test('all questions of an evaluation have one time to wait', () => {
  const { createAsker, advance } = openQueues()
  const asker = createAsker(A, { waitMs: 3 * SECOND_MS })
  advance(2 * SECOND_MS)
  assert.equal(asker.waitLeftMs, SECOND_MS)
  advance(2 * SECOND_MS)
  assert.equal(asker.waitLeftMs, 0)
})

test('what was spent a minute ago is forgotten', () => {
  const { budget, advance } = openQueues()
  const gate = { org_id: A, isRepository: false, isGate: true }
  for (let second = 0; second < 20; second += 1) {
    budget.spend(gate, 0.6 * SECOND_MS)
    advance(SECOND_MS)
  }
  assert.equal(budget.isLeft(gate), false)
  advance(42 * SECOND_MS)
  assert.equal(budget.isLeft(gate), false)
  advance(2 * SECOND_MS)
  assert.equal(budget.isLeft(gate), true)
})
