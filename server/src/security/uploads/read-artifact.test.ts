import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ReadableArtifact } from '../../ci/reports/report.store.ts'
import { computeArtifactCategory } from './read-artifact.ts'

const ARTIFACT: ReadableArtifact = {
  path: 'reports/semgrep.sarif',
  size: 1,
  sha256: 'a'.repeat(64),
  trust: 'self_reported',
  repository_key: null,
  run_id: 'run_1',
  repository: 'github.com/acme/api',
  commit_sha: 'b'.repeat(40),
  ref: 'main',
  event: 'push',
  pipeline_name: 'build',
  job_name: 'sast',
  matrix: { os: 'linux', node: 24 },
  report_name: 'default',
}

const category = (change: Partial<ReadableArtifact> = {}) => computeArtifactCategory({ ...ARTIFACT, ...change })

test('a category is readable, and has the allowed characters and length (decisions §7)', () => {
  assert.match(category(), /^ci\/build\/sast:[0-9a-f]{12}$/)
  const anyText = fc.string({ unit: 'grapheme', maxLength: 300 })
  fc.assert(
    fc.property(anyText, anyText, (pipeline_name, job_name) => {
      assert.match(category({ pipeline_name, job_name }), /^[A-Za-z0-9._/:-]{1,100}$/)
    }),
  )
})

test('another run, file, commit or branch of the same job has the same category', () => {
  const again = { run_id: 'run_2', sha256: 'c'.repeat(64), size: 2, commit_sha: 'd'.repeat(40), ref: 'dev' }
  assert.equal(category(again), category())
  assert.equal(category({ matrix: { node: 24, os: 'linux' } }), category())
  assert.equal(category({ repository: 'github.com/acme/renamed' }), category())
  assert.equal(category({ matrix: {} }), category({ matrix: null }))
})

test('another host, pipeline, job, matrix, report or path has another category', () => {
  const others: Partial<ReadableArtifact>[] = [
    {},
    { repository: 'gitlab.com/acme/api' },
    { pipeline_name: 'nightly' },
    { job_name: 'dast' },
    { matrix: null },
    { matrix: { os: 'linux', node: 22 } },
    { matrix: { os: 'linux', node: '24' } },
    { report_name: 'second' },
    { path: 'semgrep.sarif' },
  ]
  assert.equal(new Set(others.map(category)).size, others.length)
})

test('a report of a job that may have run code of strangers has a category of its own', () => {
  assert.notEqual(category({ trust: 'untrusted' }), category())
  assert.equal(category({ trust: 'verified' }), category())
})

test('names that differ only in characters that a category cannot contain have different categories', () => {
  assert.notEqual(category({ job_name: 'a b' }), category({ job_name: 'a-b' }))
  const long = 'x'.repeat(120)
  assert.notEqual(category({ job_name: `${long}1` }), category({ job_name: `${long}2` }))
})
