import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMergedConfig } from './jobs.ts'

const needs = (text: string) => {
  const { jobs = [] } = parseMergedConfig(text) ?? {}
  return Object.fromEntries(jobs.map((job) => [job.name, job.needs]))
}

test('a job needs what it names, else the jobs of the stage before', () => {
  const found = needs(`
stages: [build, test, empty, deploy]
default: {image: node}
variables: {A: b}
.hidden: {script: x}
compile: {stage: build, script: make}
docs: {stage: build, script: make docs}
unit: {stage: test, script: make test, needs: [compile, {job: docs, artifacts: true}]}
lint: {stage: test, script: make lint, needs: []}
other: {stage: test, script: x, needs: [{project: a/b, job: c}, {pipeline: $ID, job: d}]}
deploy: {stage: deploy, script: make deploy}
first: {stage: .pre, script: x}
`)
  assert.deepEqual(found, {
    compile: ['first'],
    docs: ['first'],
    unit: ['compile', 'docs'],
    lint: [],
    other: [],
    deploy: ['unit', 'lint', 'other'],
    first: [],
  })
})

test('names in the form of Ruby are read', () => {
  const found = needs('---\n:stages: [a, b]\n:one:\n  :stage: a\n:two:\n  :stage: b\n  :needs:\n  - :job: one\n')
  assert.deepEqual(found, { one: [], two: ['one'] })
})

test('without stages, there are three; a job without one is of the stage test', () => {
  assert.deepEqual(needs('b: {stage: build}\nt: {script: x}\nd: {stage: deploy}'), { b: [], t: ['b'], d: ['t'] })
})

test('a job with an environment deploys', () => {
  assert.equal(parseMergedConfig('a: {script: x}')?.deploys, false)
  assert.equal(parseMergedConfig('a: {script: x, environment: production}')?.deploys, true)
})

for (const text of ['', '[]', '{', 'include: [a]\nstages: [b]', `a: {script: ${'x'.repeat(3_000_000)}}`])
  test(`${JSON.stringify(text.slice(0, 20))} has no jobs`, () => assert.equal(parseMergedConfig(text), null))
