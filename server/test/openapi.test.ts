import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { startTestApi, type TestApi } from './support/api.ts'
import type { Json } from './support/json.ts'
import { type OpenApiDocument, operationsOf, readOpenApi } from './support/openapi.ts'

const ROOT = new URL('../../', import.meta.url)
const METHODS = new Set(['get', 'post', 'patch', 'put', 'delete'])

let api: TestApi
let document: OpenApiDocument

before(async () => {
  api = await startTestApi()
  document = JSON.parse(await readOpenApi(api))
})
after(() => api?.close())

test('openapi.json is what the server serves', async () => {
  const committed = await readFile(new URL('openapi.json', ROOT), 'utf8')
  assert.equal(await readOpenApi(api), committed, 'regenerate it: npm run openapi')
})

test('app-openapi.json is what the server serves', async () => {
  const committed = await readFile(new URL('app-openapi.json', ROOT), 'utf8')
  assert.equal(await readOpenApi(api, '/app/api'), committed, 'regenerate it: npm run openapi')
})

test('the description is OpenAPI 3.1 and names the address that the server is configured with', async () => {
  const { body } = await api.request('GET', '/v1/openapi.json')
  assert.match(body.openapi, /^3\.1\./)
  assert.deepEqual(body.servers, [{ url: api.services.config.baseUrl }])
})

test('the pages of the documentation show this description', async () => {
  const [shown, described] = [await api.request('GET', '/docs/json'), await api.request('GET', '/v1/openapi.json')]
  assert.deepEqual([shown.status, shown.body], [200, described.body])
  assert.equal((await api.request('GET', '/docs/yaml')).status, 200)
})

test('redocly finds no error in openapi.json', async () => {
  const redocly = new URL('node_modules/@redocly/cli/bin/cli.js', ROOT).pathname
  const args = [redocly, 'lint', 'openapi.json', '--format', 'json']
  const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env })
  assert.deepEqual(JSON.parse(stdout).problems, [])
})

test('every operation has a unique id, a summary, a tag and a security scheme', () => {
  const operations = operationsOf(document)
  for (const { method, path, operationId, summary, tags, security } of operations) {
    assert.match(operationId ?? '', /^[a-z][A-Za-z]+$/, `${method} ${path} has no operationId`)
    assert.ok(summary, `${operationId} has no summary`)
    assert.ok(tags?.length, `${operationId} has no tag`)
    assert.ok(security?.length, `${operationId} has no security`)
  }
  assert.equal(new Set(operations.map((operation) => operation.operationId)).size, operations.length)
})

test('the schemas of all operations are valid, for a server compiles them only when they are needed', async () => {
  for (const prefix of ['/v1', '/app/api'] as const) {
    const described = JSON.parse(await readOpenApi(api, prefix))
    const ajv = new Ajv2020({ strict: false, formats: fullFormats })
    ajv.addSchema(described, 'api')
    let count = 0
    for (const pointer of schemasOf(described)) {
      assert.doesNotThrow(() => ajv.compile({ $ref: `api#${pointer}` }), pointer)
      count += 1
    }
    assert.ok(count > 200, `${prefix}: ${count}`)
  }
})

test('every operation, parameter, response and field has a description', () => {
  for (const { operationId, description, parameters = [], responses } of operationsOf(document)) {
    assert.ok(description, `${operationId} has no description`)
    for (const { name, description } of parameters) assert.ok(description, `${operationId} does not describe ${name}`)
    for (const [status, response] of Object.entries(responses)) {
      assert.notEqual(response.description, 'Default Response', `${operationId} does not describe its ${status}`)
    }
  }
  visit(document, ({ properties = {} }) => {
    for (const [name, field] of Object.entries<Json>(properties)) {
      const isEnvelope = name === 'data' || name === 'error'
      assert.ok(field.description || field.$ref || isEnvelope, `${name} has no description: ${JSON.stringify(field)}`)
    }
  })
})

test('every path is under /v1 and every operation describes its failures', () => {
  for (const { method, path, operationId, responses } of operationsOf(document)) {
    assert.match(path, /^\/v1\//)
    assert.ok(METHODS.has(method.toLowerCase()))
    for (const status of ['400', '401', '402', '403', '404', '429', '500', '503']) {
      assert.ok(responses[status], `${operationId} does not describe its ${status}`)
    }
  }
})

test('a field with a default is not required of the client', () => {
  visit(document, (schema) => {
    for (const name of schema.required ?? []) {
      assert.equal(schema.properties?.[name]?.default, undefined, `${name} has a default and is required`)
    }
  })
})

test('shared schemas are listed once, under components/schemas', () => {
  for (const name of ['Error', 'GatewayRejection', 'CiRun', 'PipelineRun']) {
    assert.equal(document.components.schemas[name]?.type, 'object', name)
  }
  const created = document.paths['/v1/ci/runs']?.post?.responses['201'] as Json
  assert.deepEqual(created.content['application/json'].schema.properties.data, { $ref: '#/components/schemas/CiRun' })
  const unauthorized = document.paths['/v1/runs']?.get?.responses['401'] as Json
  assert.deepEqual(unauthorized.content['application/json'].schema, { $ref: '#/components/schemas/GatewayRejection' })
})

/** Where the document has the schema of a parameter, a body or a response. */
function* schemasOf(value: unknown, at = ''): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const pointer = `${at}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`
    if (name === 'schema') yield pointer
    else yield* schemasOf(inner, pointer)
  }
}

function visit(value: unknown, see: (schema: Json) => void): void {
  if (typeof value !== 'object' || value === null) return
  if ((value as Json).properties) see(value)
  for (const inner of Object.values(value)) visit(inner, see)
}
