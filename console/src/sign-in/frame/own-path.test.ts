import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownPath } from './enter-console.ts'

const ORIGIN = 'https://shiplock.example'

test('next leads from the sign-in page to paths of this server', () => {
  assert.equal(ownPath('/orgs/acme/runs?status=failure#top', ORIGIN), '/orgs/acme/runs?status=failure#top')
  assert.equal(ownPath('/', ORIGIN), '/')
})

for (const address of [
  undefined,
  '',
  'https://evil.example/',
  `${ORIGIN}/runs`,
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  '/.//evil.example/',
  '/a/..//evil.example/',
  'javascript:alert(1)',
  '//[',
])
  test(`next does not lead to ${JSON.stringify(address)}`, () => assert.equal(ownPath(address, ORIGIN), null))
