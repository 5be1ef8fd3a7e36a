import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'

const ACTION = new URL('../', import.meta.url)
const metadata = parse(readFileSync(new URL('action.yml', ACTION), 'utf8'))
const page = readFileSync(new URL('../docs/ci/github-actions.md', ACTION), 'utf8')

/** GitHub's users write these names into their workflows. */
const INPUTS = [
  ...[
    'artifacts',
    'attestations',
    'audience',
    'count-retries',
    'coverage',
    'fail-on-error',
    'follow-links',
    'images',
    'job-instance',
    'job-name',
    'junit',
    'matrix',
    'name',
  ],
  ...['organization', 'ownership', 'prodgator-url', 'retries', 'sbom', 'scan', 'summary', 'summary-file', 'url'],
]

test('action.yml has exactly the inputs and outputs that workflows use', () => {
  assert.deepEqual(Object.keys(metadata.inputs).sort(), INPUTS)
  assert.deepEqual(Object.keys(metadata.outputs), ['report-id', 'report-url'])
})

function expression(text: string): string {
  return `$\{{ ${text} }}`
}

test('the job, its matrix and its execution are those of the running job by default', () => {
  const { inputs } = metadata
  assert.equal(inputs['job-name'].default, expression('github.job'))
  assert.equal(inputs.matrix.default, expression('toJSON(matrix)'))
  assert.equal(inputs['job-instance'].default, expression('job.check_run_id'))
})

test('action.yml runs an existing file on Node 24, and describes every input', () => {
  assert.equal(metadata.runs.using, 'node24')
  assert.ok(existsSync(new URL(metadata.runs.main, ACTION)))
  for (const [name, input] of Object.entries<{ description: string }>(metadata.inputs)) {
    assert.ok(input.description.endsWith('.'), name)
  }
})

test('the page of the action describes every input and output', () => {
  for (const name of [...INPUTS, 'report-id', 'report-url']) assert.ok(page.includes(`\`${name}\``), name)
})
