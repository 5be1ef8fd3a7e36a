import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAccount } from '../../server/test/support/accounts.ts'
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../server/test/support/openid-provider.ts'
import { requestAs } from '../../server/test/support/people.ts'
import { assertAccessible, assertNoSidewaysScroll, startTestConsole, type TestConsole } from './support/console.ts'

let idp: OpenIdProvider
let shown: TestConsole

before(async () => {
  idp = await startOpenIdProvider()
  shown = await startTestConsole()
  idp.register(shown.api)
  const admin = await shown.person()
  const settings = { issuer: idp.issuer, ...CLIENT, creates_accounts: true, default_role: 'viewer' }
  const answer = await requestAs(shown.api, admin, 'PUT', '/single-sign-on', settings)
  assert.equal(answer.status, 200, answer.text)
})
after(async () => {
  await shown?.close()
  await idp?.close()
})

function personAtProvider(claims: object): void {
  idp.person = `subject-${Object.keys(idp.people).length}`
  idp.people[idp.person] = { email: 'grace@example.com', email_verified: true, name: 'Grace Hopper', ...claims }
}

test('a person signs in with the provider of the organization whose page they wanted', async () => {
  personAtProvider({})
  const page = await shown.open(null, `/orgs/${shown.caller.slug}/runs?status=failure`)
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).search, '?status=failure')
  await page.getByRole('button', { name: /Grace Hopper/ }).waitFor()
  await page.context().close()
})

test('a person names the organization that signs them in', async () => {
  personAtProvider({ email: 'katherine@example.com', name: 'Katherine Johnson' })
  const page = await shown.open(null, '/sign-in')
  await page.getByRole('button', { name: 'Use the single sign-on of an organization' }).click()
  await page.getByLabel('Organization').fill('nowhere')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').getByText('Single sign-on is not set up for “nowhere”.').waitFor()
  await assertAccessible(page)
  await page.getByLabel('Organization').fill(shown.caller.slug)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.context().close()
})

test('a refused person learns why, and an address cannot put other words into the page', async () => {
  personAtProvider({ email: 'eve@example.com', email_verified: false })
  const page = await shown.open(null, `/sign-in?org=${shown.caller.slug}`)
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click()
  await page.getByRole('alert').getByText('has not verified your email address').waitFor()
  await page.goto('/sign-in?error=Call%20this%20number&reason=Pay%20now')
  await page.getByRole('alert').getByText('The sign-in failed. Try again.').waitFor()
  assert.ok(!(await page.locator('body').innerText()).includes('Call'))
  await page.context().close()
})

test('an address of single sign-on asks a person who is signed in, who links and unlinks the identity', async () => {
  personAtProvider({ email: 'mary@example.com' })
  const person = await createAccount(shown.api)
  const page = await shown.open(null)
  // Single sign-on goes on under the base URL.
  const { url } = shown.api
  const [name = '', value = ''] = person.cookie.split('=')
  await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }])
  await page.goto(`${url}/app/api/sso/start?org=${shown.caller.slug}&next=/account`)
  await page.getByRole('heading', { name: 'Link an identity', level: 1 }).waitFor()
  await page.getByText(`the identity provider of ${shown.caller.slug} (${shown.caller.slug}) can sign you in`).waitFor()
  await assertAccessible(page)
  for (const width of [360, 800]) {
    await page.setViewportSize({ width, height: 740 })
    await assertNoSidewaysScroll(page)
  }
  await page.getByRole('button', { name: `Link the identity of ${shown.caller.slug}` }).click()
  const section = page.getByRole('region', { name: 'Single sign-on' })
  await section.getByRole('button', { name: 'Unlink' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
  await section.getByText('No identity is linked to your account.').waitFor()
  await page.context().close()
})

test('a session of an organization’s provider shows what it cannot change', async () => {
  personAtProvider({ email: 'joan@example.com', name: 'Joan Clarke' })
  const page = await shown.open(null, `/sign-in?org=${shown.caller.slug}&next=/account`)
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click()
  await page.getByText('This session opens only that organization.').waitFor()
  await page.getByText(`signed in with the single sign-on of ${shown.caller.slug}`).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Set password' }).count(), 0)
  await assertAccessible(page)
  await page.getByRole('button', { name: `Leave ${shown.caller.slug}` }).click()
  await page.getByLabel(`Type “${shown.caller.slug}” to confirm`).fill(shown.caller.slug)
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await page.getByText(`You have left ${shown.caller.slug}.`).waitFor()
  await page.getByRole('heading', { name: 'Sign in to Shiplock' }).waitFor()
  await page.context().close()
})
