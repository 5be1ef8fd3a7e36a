import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readRunbookPage } from '../support/runbook-page.ts'

const DOCS = new URL('../../../docs/', import.meta.url).pathname
const TESTS = new URL('../', import.meta.url).pathname
const CALL = /runSection\(\s*'([^']+)',\s*'([^']+)'/g

const run = new Set(
  globSync('**/*.test.ts', { cwd: TESTS }).flatMap((file) =>
    [...readFileSync(`${TESTS}${file}`, 'utf8').matchAll(CALL)].map(([, page, heading]) => `${page}: ${heading}`),
  ),
)

for (const page of globSync('{operations.md,operations/*.md}', { cwd: DOCS })) {
  test(`a test runs every command of docs/${page}`, () => {
    const missing = readRunbookPage(page).filter(({ heading }) => !run.has(`${page}: ${heading}`))
    assert.deepEqual(
      missing.map(({ heading }) => heading),
      [],
    )
  })
}
