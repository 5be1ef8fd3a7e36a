import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedThread } from '../src/platform/threads/bounded-thread.ts'

const PATIENT_MS = 10_000
const thread = new BoundedThread<unknown, string>(new URL('./support/answering-thread.ts', import.meta.url))

test('an answer comes part by part, in its order', async () => {
  assert.deepEqual(await thread.ask(['a', 'b'], PATIENT_MS), { parts: ['a', 'b'], interrupted: null })
})

test('questions at the same instant are answered one after the other, each with its own answer', async () => {
  const questions = Array.from({ length: 20 }, (_, index) => [`${index}`, `${index}`])
  const answers = await Promise.all(questions.map((question) => thread.ask(question, PATIENT_MS)))
  assert.deepEqual(
    answers.map(({ parts }) => parts),
    questions,
  )
})

test('what takes too long is ended, keeps its parts, and the next question is answered', async () => {
  const [endless, next] = await Promise.all([thread.ask(['a', 'endless', 'b'], 300), thread.ask(['c'], PATIENT_MS)])
  assert.deepEqual(endless, { parts: ['a'], interrupted: 'timeout' })
  assert.deepEqual(next, { parts: ['c'], interrupted: null })
})

test('what needs too much memory ends its thread and nothing else', async () => {
  const greedy = await thread.ask(['a', 'greedy'], 60_000)
  assert.deepEqual(greedy, { parts: ['a'], interrupted: 'died' })
  assert.deepEqual((await thread.ask(['b'], PATIENT_MS)).parts, ['b'])
})

test('an answer that throws ends its thread and nothing else', async () => {
  assert.deepEqual(await thread.ask(['a', 'throw'], PATIENT_MS), { parts: ['a'], interrupted: 'died' })
  assert.deepEqual((await thread.ask(['b'], PATIENT_MS)).parts, ['b'])
})

test('a thread that cannot start is an error each time', async () => {
  const broken = new BoundedThread(new URL('./support/no-such-thread.ts', import.meta.url))
  await assert.rejects(broken.ask('a', PATIENT_MS))
  await assert.rejects(broken.ask('a', PATIENT_MS))
})
