import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createResetLink, createSetupLink } from '../../server/src/access/links/account-links.ts'
import { createAccount, PASSWORD, signInWith } from '../../server/test/support/accounts.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { addAuthenticator } from './support/authenticator.ts'
import { assertAccessible, assertNoSidewaysScroll, startTestConsole, type TestConsole } from './support/console.ts'

const NEW_PASSWORD = 'a plain but long sentence'
let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
})
after(() => shown?.close())

const pathOf = (link: string) => new URL(link).pathname + new URL(link).hash

async function invite(admin: Person, email: string): Promise<string> {
  const answer = await requestAs(shown.api, admin, 'POST', '/invitations', { email, role: 'developer' })
  assert.equal(answer.status, 201, answer.text)
  return pathOf(answer.body.data.link)
}

const untilInside = (page: Page) => page.getByRole('navigation', { name: 'Main' }).waitFor()

test('the setup link makes the first Org admin, who is on Home afterwards', async () => {
  const setup = await createSetupLink(shown.api.services)
  assert.ok(setup)
  const page = await shown.open(null, pathOf(setup.link))
  await page.getByRole('heading', { name: 'Set up Shiplock' }).waitFor()
  await assertAccessible(page)
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByLabel('Name').fill('Ada Lovelace')
  await page.getByLabel('Password').fill('ada@example.com')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('alert').getByText('must not be your email address or your name').waitFor()
  await page.getByLabel('Password').fill(NEW_PASSWORD)
  await page.getByText('At least 12 characters: done').waitFor()
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).pathname, `/orgs/${shown.caller.slug}`)
  assert.ok(!page.url().includes('token'))
  await page.context().close()

  const again = await shown.open(null, pathOf(setup.link))
  await again.getByRole('heading', { name: 'This link cannot be used' }).waitFor()
  await assertAccessible(again)
  await again.context().close()
})

test('an invited person makes an account with a passkey, and signs in with it', async () => {
  const admin = await shown.person()
  const page = await shown.open(null, await invite(admin, 'grace@example.com'), { width: 360, height: 740 })
  await addAuthenticator(page)
  await page.getByRole('heading', { name: `Join ${shown.caller.slug}` }).waitFor()
  await page.getByText('You are invited as Developer, with the email address grace@example.com.').waitFor()
  await assertAccessible(page)
  await assertNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Use a passkey instead' }).click()
  assert.equal(await page.evaluate('document.activeElement.name'), 'name')
  await page.getByLabel('Name').fill('Grace Hopper')
  await page.getByRole('button', { name: 'Use a passkey instead' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.context().clearCookies()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.context().close()
})

test('a person with an account signs in to it before they join another organization', async () => {
  const admin = await shown.person()
  const person = await createAccount(shown.api)
  const page = await shown.open(null, await invite(admin, person.email))
  await page.getByRole('button', { name: 'Sign in to join' }).click()
  await page.getByLabel('Email address').fill(person.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: `Join ${shown.caller.slug}` }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).pathname, `/orgs/${shown.caller.slug}`)
  await page.context().close()
})

test('somebody who is signed in with another account is told so', async () => {
  const [admin, person, other] = [await shown.person(), await createAccount(shown.api), await shown.person()]
  const page = await shown.open(other, await invite(admin, person.email))
  await page.getByText(`You are signed in as ${other.email}. The invitation is for ${person.email}.`).waitFor()
  await page.getByRole('button', { name: `Sign in as ${person.email}` }).click()
  await page.getByRole('heading', { name: 'Sign in to Shiplock' }).waitFor()
  await page.context().close()
})

test('a reset link sets a new password', async () => {
  const { email } = await createAccount(shown.api)
  const { link } = await createResetLink(shown.api.services, email)
  const page = await shown.open(null, pathOf(link), { colorScheme: 'dark' })
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  await assertAccessible(page)
  await page.getByLabel('Password').fill(NEW_PASSWORD)
  await page.getByRole('button', { name: 'Set new password' }).click()
  await untilInside(page)
  assert.equal((await signInWith(shown.api, { email, password: NEW_PASSWORD })).status, 200)
  await page.context().close()
})

test('a link without its token says what to do', async () => {
  const page = await shown.open(null, '/join')
  await page.getByRole('heading', { name: 'This link cannot be used' }).waitFor()
  await page.getByRole('link', { name: 'Sign in instead' }).click()
  await page.getByRole('heading', { name: 'Sign in to Shiplock' }).waitFor()
  await page.context().close()
})
