import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedProcess } from '../src/platform/processes.ts'

const PATIENT_MS = 10_000
const answering = new BoundedProcess<unknown, string>(new URL('./support/answering-process.ts', import.meta.url))

test('an answer is returned in parts, in order', async () => {
  assert.deepEqual(await answering.ask(['a', 'b'], PATIENT_MS), { parts: ['a', 'b'], interrupted: null })
})

test('questions at the same instant are answered one after the other, each with its own answer', async () => {
  const questions = Array.from({ length: 20 }, (_, index) => [`${index}`, `${index}`])
  const answers = await Promise.all(questions.map((question) => answering.ask(question, PATIENT_MS)))
  assert.deepEqual(
    answers.map(({ parts }) => parts),
    questions,
  )
})

test('a question that takes too long is ended with its parts so far, and the next question is answered', async () => {
  const [endless, next] = await Promise.all([
    answering.ask(['a', 'endless', 'b'], 300),
    answering.ask(['c'], PATIENT_MS),
  ])
  assert.deepEqual(endless, { parts: ['a'], interrupted: 'timeout' })
  assert.deepEqual(next, { parts: ['c'], interrupted: null })
})

test('a task that needs too much memory ends only its own process', async () => {
  const greedy = await answering.ask(['a', 'greedy'], 60_000)
  assert.deepEqual(greedy, { parts: ['a'], interrupted: 'died' })
  assert.deepEqual((await answering.ask(['b'], PATIENT_MS)).parts, ['b'])
})

test('an answer that throws ends its process and nothing else', async () => {
  assert.deepEqual(await answering.ask(['a', 'throw'], PATIENT_MS), { parts: ['a'], interrupted: 'died' })
  assert.deepEqual((await answering.ask(['b'], PATIENT_MS)).parts, ['b'])
})

test('a process that cannot start is an error each time', async () => {
  const broken = new BoundedProcess(new URL('./support/no-such-process.ts', import.meta.url))
  await assert.rejects(broken.ask('a', PATIENT_MS))
  await assert.rejects(broken.ask('a', PATIENT_MS))
})
