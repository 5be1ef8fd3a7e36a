import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { published } from '../support/published.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const { consumer } = published()
const installed = join(consumer, 'node_modules/@shiplock/sdk')

test('the package has its version, license and types, and needs openapi-fetch and the agents for proxies alone', async () => {
  const own = JSON.parse(await readFile(join(ROOT, 'sdk/package.json'), 'utf8'))
  const built = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const { name, version, license, dependencies, devDependencies, private: isPrivate, type } = built
  assert.deepEqual([name, version, license, type], ['@shiplock/sdk', own.version, 'Apache-2.0', 'module'])
  assert.deepEqual(
    [Object.keys(dependencies), devDependencies, isPrivate],
    [['http-proxy-agent', 'https-proxy-agent', 'openapi-fetch'], undefined, undefined],
  )
  for (const file of ['README.md', 'LICENSE', 'index.js', 'types/openapi.d.ts']) await readFile(join(installed, file))
})

test('only the entry for Node.js imports its modules', async () => {
  for (const [file, usesNode] of [
    ['index.js', false],
    ['node.js', true],
    ['for-node/node.js', true],
  ] as const) {
    const text = await readFile(join(installed, file), 'utf8')
    assert.equal(/from ['"]node:/.test(text), usesNode, file)
  }
})

const CONSUMER = `
import { createClient, NetworkError, ShiplockError, type Source, blobSource } from '@shiplock/sdk'

const client = createClient({ url: 'https://example.com', token: async () => 'x' })
export const source: Source = blobSource(new Blob(['x']), 'x')

export async function use(): Promise<string> {
  const { data, response } = await client.api.GET('/v1/runs/{id}', { params: { path: { id: 'x' } } })
  const status: 'queued' | 'in_progress' | 'success' | 'failure' | 'cancelled' | 'timed_out' | 'skipped' = data.data.status
  // @ts-expect-error the path needs an id
  await client.api.GET('/v1/runs/{id}', {})
  // @ts-expect-error an unknown path
  await client.api.GET('/v1/run')
  // @ts-expect-error a path without PATCH
  await client.api.PATCH('/v1/runs')
  // @ts-expect-error a misspelt field
  await client.api.PATCH('/v1/ci/runs/{run_id}', { params: { path: { run_id: 'x' } }, body: { state: 'success' } })
  await client.api.POST('/v1/ci/runs/{run_id}/reports', { params: { path: { run_id: 'x' } }, body: { job: {} } })
  for await (const finding of client.list('/v1/security/findings', { query: { repository: 'acme/shop' } })) {
    const severity: string = finding.severity
    // @ts-expect-error a finding has no such field
    finding.color
    if (severity === 'critical') break
  }
  // @ts-expect-error not a list
  client.list('/v1/provenance/keys')
  // @ts-expect-error the repository is required
  await client.uploadReport(source, {})
  const upload = await client.uploadReport(source, { repository: 'acme/shop', onProgress: (bytes: number) => bytes })
  return status + response.status + upload.id
}

export function code(error: unknown): string | undefined {
  if (error instanceof NetworkError) return String(error.cause)
  return error instanceof ShiplockError ? error.code : undefined
}
`

const STRICT = [
  '--noEmit',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--target',
  'es2022',
]
const NODE = [
  '--module',
  'nodenext',
  '--lib',
  'es2022',
  '--types',
  'node',
  '--typeRoots',
  join(ROOT, 'node_modules/@types'),
]
const BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom']
const COMPILERS = { 'TypeScript 7': 'node_modules/.bin/tsc', 'TypeScript 5': 'sdk/node_modules/.bin/tsc' }

for (const [compiler, path] of Object.entries(COMPILERS)) {
  for (const [where, flags] of Object.entries({ 'Node.js': NODE, 'a browser': BUNDLER })) {
    test(`the types are exact and strict, with ${compiler} for ${where}`, async () => {
      const isNode = where === 'Node.js'
      const file = join(consumer, `${isNode ? 'node' : 'browser'}-consumer.mts`)
      const forNode = `import { fileSource } from '@shiplock/sdk/node'\nexport const file: Source = fileSource('x')\n`
      await writeFile(file, isNode ? CONSUMER + forNode : CONSUMER)
      const compiled = promisify(execFile)(join(ROOT, path), [...STRICT, ...flags, file], { cwd: consumer })
      await compiled.catch(({ stdout }) => assert.fail(stdout))
    })
  }
}
