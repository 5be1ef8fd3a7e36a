import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobs, scheduledJobs } from './jobs.ts'

test('every job and every event is listed once: the worker would run only the last entry of a name', () => {
  const names = [...jobs, ...scheduledJobs].map(({ name }) => name)
  const repeated = names.filter((name, index) => names.indexOf(name) !== index)
  assert.deepEqual(repeated, [])
})
