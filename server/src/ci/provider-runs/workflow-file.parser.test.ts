import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_WORKFLOW, parseWorkflowFile } from './workflow-file.parser.ts'

test('jobs are named by their name, else by their id, in the keys and in the values', () => {
  const file = `
on: [push]
jobs:
  compile:
    name: Compile it
    runs-on: ubuntu-latest
  check:
    needs: compile
    runs-on: ubuntu-latest
  release:
    needs: [check, compile]
    environment: production
    uses: ./.github/workflows/release.yml
`
  assert.deepEqual(parseWorkflowFile(file), {
    job_dependencies: { 'Compile it': [], check: ['Compile it'], release: ['check', 'Compile it'] },
    deploys: true,
  })
})

const OS = `\${{ matrix.os }}`
const NAMES: [name: string, shown: string][] = [
  [`'Test (${OS})'`, 'Test'],
  [`'Test (${OS}, ${OS})'`, 'Test'],
  [`'Test on ${OS}'`, 'Test on'],
  [`'${OS} / Build'`, 'Build'],
  [`'Build - ${OS}'`, 'Build'],
  [`'${OS}'`, 'job'],
  [`'Test ${OS.slice(0, 8)}'`, 'Test'],
  ['7', 'job'],
  [`'Deploy (production)'`, 'Deploy (production)'],
]

for (const [name, shown] of NAMES) {
  test(`the name ${name} is shown as ${shown}`, () => {
    const { job_dependencies } = parseWorkflowFile(`jobs: {job: {name: ${name}}}`)
    assert.deepEqual(job_dependencies, { [shown]: [] })
  })
}

test('jobs with one name are one', () => {
  const file = 'jobs: {a: {}, b: {name: T, needs: a}, c: {name: T, needs: [d]}, d: {}}'
  assert.deepEqual(parseWorkflowFile(file).job_dependencies, { a: [], T: ['a', 'd'], d: [] })
})

test('anchors are read; a document that aliases would make large is refused', () => {
  const anchored = 'base: &base {needs: first}\njobs: {first: {}, second: *base}'
  assert.deepEqual(parseWorkflowFile(anchored).job_dependencies, { first: [], second: ['first'] })
  const levels = Array.from({ length: 12 }, (_, index) => {
    const before =
      index === 0
        ? '"x"'
        : Array(9)
            .fill(`*l${index - 1}`)
            .join(', ')
    return `l${index}: &l${index} [${before}]`
  })
  assert.deepEqual(parseWorkflowFile(`${levels.join('\n')}\njobs: {a: {needs: *l11}}`), NO_WORKFLOW)
})

for (const [what, text] of [
  ['no YAML', '{ jobs: ['],
  ['another document', '- jobs'],
  ['no jobs', 'on: push'],
  ['an empty file', ''],
  ['too large a file', `jobs: {a: {name: ${'x'.repeat(600_000)}}}`],
]) {
  test(`${what} has no job dependencies`, () => assert.deepEqual(parseWorkflowFile(text as string), NO_WORKFLOW))
}

test('names are what PostgreSQL can store', () => {
  const file = `jobs: {"a\\0b": {name: "\\ud83d${'x'.repeat(300)}"}, c: {needs: ["a\\0b"]}}`
  const names = Object.keys(parseWorkflowFile(file).job_dependencies ?? {})
  assert.deepEqual(
    names.map((name) => [name.length, name.isWellFormed(), name.includes('\0')]),
    [
      [200, true, false],
      [1, true, false],
    ],
  )
})

test('odd values of jobs and needs are passed over', () => {
  const file = 'jobs: {a: null, b: {needs: 3}, c: {needs: [a, {x: 1}, gone]}}'
  assert.deepEqual(parseWorkflowFile(file).job_dependencies, { a: [], b: [], c: ['a', 'gone'] })
})
