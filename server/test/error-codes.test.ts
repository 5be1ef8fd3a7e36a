import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const ROOT = new URL('../../', import.meta.url).pathname

/** Codes of the commands that administer a server. They are printed as messages. */
const OF_COMMANDS = [
  'chain_not_broken',
  'expired_regroup',
  'key_in_use',
  'later_regroup',
  'regroup_undone',
  'repository_connected',
  'slug_taken',
]

function codesOfSource(): string[] {
  const files = globSync('server/src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'))
  const codes = files.flatMap((path) =>
    [...readFileSync(ROOT + path, 'utf8').matchAll(/new ApiError\(\s*\d+,\s*'(\w+)'/g)].map(
      ([, code]) => code as string,
    ),
  )
  return [...new Set(codes)].sort()
}

test('docs/errors.md describes every error code of the API, and docs/ingest.md those of its routes', () => {
  const [api, ingest] = ['docs/errors.md', 'docs/ingest.md'].map((path) => readFileSync(ROOT + path, 'utf8'))
  const codes = codesOfSource()
  assert.ok(codes.length > 40)
  const missing = codes.filter(
    (code) => !api?.includes(`\`${code}\``) && !ingest?.includes(`\`${code.toUpperCase()}\``),
  )
  assert.deepEqual(missing, OF_COMMANDS)
})
