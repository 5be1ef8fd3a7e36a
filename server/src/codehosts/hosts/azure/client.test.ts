import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSignInPage, parseAccount, parseTime } from './client.ts'

test('times may lack a zone and have seven digits; the year 1 is none', () => {
  assert.equal(parseTime('2022-11-21T16:42:52.7761408Z')?.toISOString(), '2022-11-21T16:42:52.776Z')
  assert.equal(parseTime('2022-11-21T16:42:52')?.toISOString(), '2022-11-21T16:42:52.000Z')
  assert.equal(parseTime('0001-01-01T00:00:00'), null)
})

test('services are bots, and have their display name as login', () => {
  const service = { id: 'A', displayName: 'Shop Build Service', uniqueName: 'Build\\1234', descriptor: 'svc.abc' }
  assert.deepEqual([parseAccount(service)?.login, parseAccount(service)?.is_bot], ['Shop Build Service', true])
  const person = { id: 'B', displayName: 'Ada', uniqueName: 'ada@acme.example', descriptor: 'aad.abc' }
  assert.deepEqual([parseAccount(person)?.login, parseAccount(person)?.is_bot], ['ada@acme.example', false])
  assert.equal(parseAccount({ id: '' }), null)
})

test('only a 203, and a redirect to a sign-in page, speak of credentials', () => {
  const isSignIn = (status: number, location?: string) =>
    isSignInPage({ status, headers: new Headers(location === undefined ? {} : { location }) })
  assert.ok(isSignIn(203))
  for (const page of [
    'https://login.microsoftonline.com/common/oauth2',
    'https://app.vssps.visualstudio.com/_signin?x=1',
  ])
    assert.ok(isSignIn(302, page), page)
  for (const page of [
    'https://dev.azure.com/acme',
    'https://evil.example/?to=https://app.vssps.visualstudio.com/_signin',
  ])
    assert.ok(!isSignIn(302, page), page)
  assert.ok(!isSignIn(302))
  assert.ok(!isSignIn(200))
  assert.ok(!isSignIn(503))
})
