import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BUNDLE, bundleAction } from '../build.ts'

test('dist/index.mjs is what the source gives, byte for byte', async () => {
  const isSame = readFileSync(BUNDLE, 'utf8') === (await bundleAction())
  assert.ok(isSame, 'dist/index.mjs is outdated: run "npm run build --workspace action"')
})

test('dist/index.mjs names the licenses of its packages, and no path of the machine that built it', () => {
  const text = readFileSync(BUNDLE, 'utf8')
  for (const name of ['@actions/core', 'openapi-fetch', 'saxes', 'tinyglobby', 'undici']) {
    assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((?:MIT|ISC)\\)$`, 'm'))
  }
  assert.ok(!text.includes(process.cwd()))
})
