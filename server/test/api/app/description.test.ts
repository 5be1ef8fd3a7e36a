import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../../support/api.ts'
import type { Json } from '../../support/json.ts'
import { type Operation, operationsOf, readOpenApi } from '../../support/openapi.ts'

let api: TestApi
let document: Json
let operations: Operation[]

before(async () => {
  api = await startTestApi()
  document = JSON.parse(await readOpenApi(api, '/app/api'))
  operations = operationsOf(document)
})
after(() => api?.close())

test('every operation has a unique id, a summary, and a tag that is described', () => {
  const tags = document.tags.map(({ name }: Json) => name)
  for (const { operationId, summary, tags: own } of operations) {
    assert.match(operationId, /^[a-z][A-Za-z]+$/)
    assert.ok(summary, `${operationId} has no summary`)
    assert.ok(own.length > 0 && own.every((tag) => tags.includes(tag)), `${operationId} has the tags ${own}`)
  }
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  assert.equal(new Set(tags).size, tags.length)
})

test('the description of every operation states who may call it', () => {
  for (const { operationId, description = '', security, ...operation } of operations) {
    const { 'x-permissions': permissions = [], 'x-fresh-sign-in': fresh } = operation
    for (const permission of permissions) assert.match(description, new RegExp(`\`${permission}\``), operationId)
    const isOpen = permissions.length === 0
    if (isOpen)
      assert.match(description, security.length === 0 ? /Requires no session/ : /Requires a session/, operationId)
    assert.equal(/Requires a sign-in within the last 15 minutes/.test(description), fresh, operationId)
  }
})

test('every error that the description of an operation names is one of its responses', () => {
  for (const { operationId, description = '', responses } of operations) {
    const [, errors = ''] = description.split('Errors:')
    for (const [status] of errors.matchAll(/\b[45]\d\d\b/g))
      assert.ok(responses[status], `${operationId} does not list its ${status}`)
  }
})

test('every parameter, response and field has a description', () => {
  for (const { operationId, parameters = [], responses } of operations) {
    for (const { name, description } of parameters) assert.ok(description, `${operationId} does not describe ${name}`)
    for (const [status, response] of Object.entries(responses)) {
      assert.notEqual(response.description, 'Default Response', `${operationId} does not describe its ${status}`)
    }
  }
  visit(document, ({ properties }) => {
    for (const [name, field] of Object.entries<Json>(properties)) {
      const isEnvelope = name === 'data' || name === 'error'
      assert.ok(field.description || field.$ref || isEnvelope, `${name} has no description: ${JSON.stringify(field)}`)
    }
  })
})

function visit(value: unknown, see: (schema: Json) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (typeof (value as Json).properties === 'object') see(value)
  for (const inner of Object.values(value)) visit(inner, see)
}
