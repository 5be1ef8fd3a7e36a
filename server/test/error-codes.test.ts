import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { type DeclaredError, readErrorCatalogue } from './support/error-catalogue.ts'
import { errorsPage } from './support/errors-page.ts'
import type { Json } from './support/json.ts'
import { operationsOf } from './support/openapi.ts'

const ROOT = new URL('../../', import.meta.url).pathname

let catalogue: DeclaredError[]

before(async () => {
  catalogue = await readErrorCatalogue()
})

function readText(path: string): string {
  return readFileSync(ROOT + path, 'utf8')
}

test('docs/errors.md is written from the declared errors', () => {
  assert.ok(catalogue.length > 90)
  const message = 'Run npm run errors --workspace server'
  assert.equal(readText('docs/errors.md'), errorsPage(catalogue), message)
})

test('docs/ingest.md describes every error of its routes only', () => {
  const page = readText('docs/ingest.md')
  const codes = catalogue.filter(({ file }) => file === 'errors/ingest.ts').map(({ code }) => code.toUpperCase())
  assert.deepEqual(
    codes.filter((code) => !page.includes(`\`${code}\``)),
    [],
  )
})

test('an error is declared once, and no code but invalid_request has two statuses', () => {
  const codes = catalogue.map(({ code }) => code).filter((code) => code !== 'invalid_request')
  assert.deepEqual(
    codes.filter((code, index) => codes.indexOf(code) !== index),
    [],
  )
  const places = catalogue.map(({ status, code }) => `${status} ${code}`)
  assert.equal(new Set(places).size, places.length)
})

test('every declared error says what it means and what to do, in sentences', () => {
  for (const { code, cause, remedy } of catalogue) {
    for (const text of [cause, remedy]) assert.match(text, /^[A-Z`][^|\n]+\.$/, code)
  }
})

test('errors are made by their declarations only', () => {
  const files = globSync('server/src/**/*.ts', { cwd: ROOT }).filter((path) => !path.includes('/platform/http/'))
  assert.deepEqual(
    files.filter((path) => readText(path).includes('new ApiError(')),
    [],
  )
})

const NAMED = /\b([45]\d\d) (`\w+`(?:(?:,| or|, or| and) `\w+`)*)/g

test('every error that the description of an operation names is declared with that status', () => {
  const declared = new Set(catalogue.map(({ status, code }) => `${status} ${code}`))
  for (const path of ['openapi.json', 'app-openapi.json']) {
    const operations = operationsOf(JSON.parse(readText(path)) as Json)
    const named = operations.flatMap(({ operationId, description = '' }) =>
      [...description.matchAll(NAMED)].flatMap(([, status, codes = '']) =>
        [...codes.matchAll(/\w+/g)]
          .filter(([word]) => word !== 'or' && word !== 'and')
          .map(([code]) => ({ operationId, error: `${status} ${code}` })),
      ),
    )
    assert.ok(named.length > 20, path)
    assert.deepEqual(
      named.filter(({ error }) => !declared.has(error)),
      [],
    )
  }
})
