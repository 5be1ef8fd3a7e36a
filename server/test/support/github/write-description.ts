// Writes server/test/fixtures/github: GitHub's description of its REST API and webhooks, limited to
// the operations and webhooks of `described.ts`. The packages have 385 MB and 36 MB, so they are
// not dependencies. To update the fixtures, install them outside of the repository:
//
//   mkdir /tmp/github-description && cd /tmp/github-description && npm init --yes
//   npm install @octokit/openapi@23.0.2 @octokit/openapi-webhooks@12.1.0
//   node server/test/support/github/write-description.ts /tmp/github-description/node_modules
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { DESCRIBED_OPERATIONS, DESCRIBED_WEBHOOKS } from './described.ts'

// biome-ignore lint/suspicious/noExplicitAny: the description is any JSON
type Json = any

const FIXTURES = join(import.meta.dirname, '../../fixtures/github')
/** Fields that only a person reads. */
const PROSE = new Set(['description', 'example', 'examples', 'x-github', 'externalDocs', 'summary', 'tags', 'title'])
/** Keys below these are names, not fields of the description. */
const MAPS = new Set(['properties', 'schemas', 'parameters', 'responses', 'headers', 'patternProperties'])

const packages = process.argv[2]
if (packages === undefined) throw new Error('Usage: node write-description.ts <node_modules>')
write('rest', restDescription(read('openapi')))
write('webhooks', webhookDescription(read('openapi-webhooks')))

function read(name: string): Json {
  return JSON.parse(readFileSync(join(packages as string, '@octokit', name, 'generated/api.github.com.json'), 'utf8'))
}

function write(name: string, description: Json): void {
  writeFileSync(join(FIXTURES, `${name}.json.br`), brotliCompressSync(JSON.stringify(description)))
}

function restDescription(source: Json): Json {
  const paths: Json = {}
  for (const operation of DESCRIBED_OPERATIONS) {
    const [method, path] = operation.split(' ') as [string, string]
    const found = source.paths[path]?.[method.toLowerCase()]
    if (found === undefined) throw new Error(`GitHub does not describe ${operation}`)
    paths[path] = { ...paths[path], [method.toLowerCase()]: withoutProse(found, false) }
  }
  return { version: source.info.version, paths, components: referenced(paths, source) }
}

/** The schema of each webhook's payload. */
function webhookDescription(source: Json): Json {
  const webhooks: Json = {}
  for (const name of DESCRIBED_WEBHOOKS) {
    const found = source.webhooks[name]?.post
    if (found === undefined) throw new Error(`GitHub does not describe the webhook ${name}`)
    webhooks[name] = withoutProse(found.requestBody.content['application/json'].schema, false)
  }
  return { version: source.info.version, webhooks, components: referenced(webhooks, source) }
}

/** The components that a part of the description refers to, and those that they refer to. */
function referenced(part: Json, source: Json): Json {
  const components: Json = {}
  const open = referencesIn(part)
  for (let reference = open.pop(); reference !== undefined; reference = open.pop()) {
    const [, , type, name] = reference.split('/') as [string, string, string, string]
    if (components[type]?.[name] !== undefined) continue
    const component = withoutProse(source.components[type][name], false)
    components[type] = { ...components[type], [name]: component }
    open.push(...referencesIn(component))
  }
  return components
}

function referencesIn(part: Json): string[] {
  if (part === null || typeof part !== 'object') return []
  const own = typeof part.$ref === 'string' ? [part.$ref] : []
  return [...own, ...Object.values(part).flatMap(referencesIn)]
}

function withoutProse(part: Json, isMap: boolean): Json {
  if (Array.isArray(part)) return part.map((item) => withoutProse(item, false))
  if (part === null || typeof part !== 'object') return part
  const kept = Object.entries(part).filter(([key]) => isMap || !PROSE.has(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutProse(value, !isMap && MAPS.has(key))]))
}
