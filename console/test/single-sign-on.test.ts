import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../server/test/support/openid-provider.ts'
import { requestAs } from '../../server/test/support/people.ts'
import { assertAccessible, startTestConsole, type TestConsole } from './support/console.ts'

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
