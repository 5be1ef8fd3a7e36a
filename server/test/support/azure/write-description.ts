/**
 * Writes test/fixtures/azure/rest.json.br: the operations in `described.ts`, with what they refer
 * to. Its argument is the folder `specification` of a clone of
 * https://github.com/MicrosoftDocs/vsts-rest-api-specs:
 *
 *   node test/support/azure/write-description.ts ../vsts-rest-api-specs/specification
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { DESCRIBED, SHORTER_PATHS } from './described.ts'

// biome-ignore lint/suspicious/noExplicitAny: a description is any JSON
type Json = any

const FIXTURE = join(import.meta.dirname, '../../fixtures/azure/rest.json.br')

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Name the folder "specification" of a clone.')

const paths: Json = {}
const definitions: Json = {}
for (const [name, operations] of Object.entries(DESCRIBED)) addDocument(name, operations)
for (const [path, shorter] of Object.entries(SHORTER_PATHS)) paths[shorter] = withoutMissing(paths[path], shorter)
const description = { swagger: '2.0', info: { title: 'Azure DevOps', version: '7.1' }, paths, definitions }
writeFileSync(FIXTURE, brotliCompressSync(JSON.stringify(description)))

function addDocument(name: string, operations: readonly string[]): void {
  const text = readFileSync(join(folder as string, `${name}.json`), 'utf8').replace(/^\uFEFF/, '')
  const document = JSON.parse(text)
  const prefix = `${name.split('/').at(-1)}.`
  for (const operation of operations) {
    const [method, path] = operation.split(' ') as [string, string]
    const found = operationsOf(document, path, method.toLowerCase())
    if (found.length === 0) throw new Error(`${name} does not describe ${operation}`)
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = renamed(merged(document, found), prefix)
  }
  addUsed(document, prefix)
}

/** Some operations are described twice, with and without a parameter in their path. */
function operationsOf(document: Json, path: string, method: string): Json[] {
  const all = Object.entries({ ...document.paths, ...document['x-ms-paths'] })
  const own = all.filter(([template]) => template.split('?')[0] === path)
  return own.flatMap(([, item]) => (item as Json)[method] ?? [])
}

function merged(document: Json, operations: Json[]): Json {
  const resolved = operations.flatMap(({ parameters = [] }) =>
    parameters.map((one: Json) => (one.$ref ? document.parameters[one.$ref.split('/').at(-1)] : one)),
  )
  const parameters = new Map(resolved.map((one: Json) => [`${one.in} ${one.name}`, one]))
  const isOne = operations.length === 1
  const shown = [...parameters.values()].map((one: Json) =>
    isOne || one.in === 'path' ? one : { ...one, required: false },
  )
  const { responses } = operations[0]
  // Answers of several forms are not checked.
  return { parameters: shown, responses: isOne ? wrapped(responses) : { 200: { description: 'Several forms' } } }
}

/** Lists are sent with their count, which the documents leave out. */
function wrapped(responses: Json): Json {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]: [string, Json]) => {
      if (response.schema?.type !== 'array') return [status, response]
      const properties = { count: { type: 'integer' }, value: response.schema }
      return [status, { ...response, schema: { type: 'object', required: ['count', 'value'], properties } }]
    }),
  )
}

/** Definitions of different documents share names. */
function renamed(part: Json, prefix: string): Json {
  if (Array.isArray(part)) return part.map((one) => renamed(one, prefix))
  if (part === null || typeof part !== 'object') return part
  const entries = Object.entries(part).flatMap(([key, value]): [string, Json][] => {
    if (key === 'description' && typeof value === 'string') return []
    if (key.startsWith('x-ms-')) return []
    if (key === '$ref') return [[key, String(value).replace('#/definitions/', `#/definitions/${prefix}`)]]
    return [[key, renamed(value, prefix)]]
  })
  return Object.fromEntries(entries)
}

/** The definitions of a document that its operations refer to. */
function addUsed(document: Json, prefix: string): void {
  for (let missing = missingNames(prefix); missing.length > 0; missing = missingNames(prefix))
    for (const name of missing) definitions[prefix + name] = renamed(document.definitions[name], prefix)
}

function missingNames(prefix: string): string[] {
  const used = JSON.stringify({ paths, definitions }).matchAll(/"#\/definitions\/([^"]+)"/g)
  const own = [...used].map(([, name]) => name as string).filter((name) => name.startsWith(prefix))
  return [...new Set(own)].filter((name) => !(name in definitions)).map((name) => name.slice(prefix.length))
}

function withoutMissing(item: Json, path: string): Json {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]: [string, Json]) => {
      const parameters = operation.parameters.filter((one: Json) => one.in !== 'path' || path.includes(`{${one.name}}`))
      return [method, { ...operation, parameters }]
    }),
  )
}
