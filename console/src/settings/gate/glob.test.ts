import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchGlob as matchesOnServer } from '../../../../server/src/platform/glob.ts'
import { matchesGlob } from './gate-settings.ts'

const GLOBS = [
  ...['*', '**', 'production', 'prod*', '*prod*', 'prod-?', 'prod-{eu,us}', 'prod-{eu,us}/*', 'acme/*', 'acme/**'],
  ...['**/web', '*/acme/web', '**/acme/**', 'acme/w?b', '{acme,other}/{web,api}', 'release/*.x', 'a.c', 'a+b', '*.x'],
  ...['prod(', 'prod[e]*', '{a', 'a**b', '', '*/', 'acme/web'],
]
const TEXTS = [
  ...['production', 'prod', 'prod-eu', 'prod-us', 'prod-1', 'prod-eu/blue', 'staging', 'acme/web', 'acme/api', 'acme'],
  ...[
    'github.com/acme/web',
    'acme/web/deep',
    'other/web',
    'release/1.x',
    'release/1x',
    'abc',
    'a.c',
    'a+b',
    '.x',
    'aXb',
  ],
  ...['prod(', '{a', 'web', '/web', 'acme/'],
]

test('the preview matches what the server matches', () => {
  for (const glob of GLOBS)
    for (const text of TEXTS) assert.equal(matchesGlob(glob, text), matchesOnServer(glob, text), `${glob} on ${text}`)
})
