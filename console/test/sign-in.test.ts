import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import * as OTPAuth from 'otpauth'
import type { Page } from 'playwright-core'
import { createAccount, PASSWORD } from '../../server/test/support/accounts.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { addAuthenticator } from './support/authenticator.ts'
import { assertAccessible, assertNoSidewaysScroll, startTestConsole, type TestConsole } from './support/console.ts'

let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
})
after(() => shown?.close())

async function enterPassword(page: Page, { email }: Pick<Person, 'email'>, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Turns TOTP on for a person, and returns their codes. */
async function withTotp(person: Person) {
  const post = async (path: string, body?: object) =>
    (await requestAs(shown.api, person, 'POST', `/app/api/account/${path}`, body)).body.data
  const { uri } = await post('totp')
  const totp = OTPAuth.URI.parse(uri) as OTPAuth.TOTP
  const code = () => totp.generate({ timestamp: shown.api.clock.now().getTime() })
  const { recovery_codes: recoveryCodes } = await post('totp/confirm', { code: code() })
  shown.api.clock.advance(60_000)
  return { code, recoveryCodes: recoveryCodes as string[] }
}

test('a person signs in with a password, and comes to the page that they wanted', async () => {
  const person = await createAccount(shown.api)
  const wanted = `${person.org.replace('/app/api', '')}/runs?status=failure`
  const page = await shown.open(null, wanted)
  await page.getByRole('heading', { name: 'Sign in to Shiplock' }).waitFor()
  assert.equal(await page.title(), 'Sign in to Shiplock · Shiplock')
  await assertAccessible(page)
  await enterPassword(page, person, 'a wrong password')
  await page.getByRole('alert').getByText('The email address or the password is wrong.').waitFor()
  await enterPassword(page, person)
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, wanted)
  await page.context().close()
})

test('an account with two-factor authentication needs a code, or a recovery code', async () => {
  const person = await createAccount(shown.api)
  const { code, recoveryCodes } = await withTotp(person)
  const page = await shown.open(null, '/sign-in')
  await enterPassword(page, person)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await assertAccessible(page)
  assert.equal(await page.evaluate('document.activeElement.name'), 'code')
  await page.getByLabel('Code of your authenticator app').fill('000000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('The code is wrong').waitFor()
  await page.getByLabel('Code of your authenticator app').fill(code())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.context().close()

  const second = await shown.open(null, '/sign-in')
  await enterPassword(second, person)
  await second.getByRole('button', { name: 'Use a recovery code' }).click()
  await second.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '')
  await second.getByRole('button', { name: 'Sign in' }).click()
  await second.getByRole('navigation', { name: 'Main' }).waitFor()
  await second.context().close()
})

test('too many attempts: the page says how long to wait', async () => {
  const person = await createAccount(shown.api)
  const page = await shown.open(null, '/sign-in')
  const { sql, clock } = shown.api.services
  const alert = page.getByRole('alert')
  await enterPassword(page, person, 'a wrong password')
  await alert.waitFor()
  const pause = sql`starts_with(key, 'pause:')`
  await sql`update sign_in_attempts set blocked_until = ${new Date(clock.now().getTime() + 300_000)} where ${pause}`
  await enterPassword(page, person)
  await alert.getByText(/Too many failed attempts\. .*Try again in [45] min/).waitFor()
  await sql`update sign_in_attempts set blocked_until = null where ${pause}`
  await sql`update sign_in_attempts set attempts = 1000 where not ${pause}`
  await enterPassword(page, person)
  await alert.getByText('Sign in with a passkey').waitFor()
  assert.ok(!(await alert.innerText()).includes('Try again in'))
  await sql`delete from sign_in_attempts`
  await page.context().close()
})

test('next leads to no other site', async () => {
  const person = await createAccount(shown.api)
  for (const next of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const page = await shown.open(null, `/sign-in?next=${encodeURIComponent(next)}`)
    await enterPassword(page, person)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.equal(new URL(page.url()).origin, shown.url)
    await page.context().close()
  }
})

test('a passkey is added to an account, signs in, and is removed', async () => {
  const person = await createAccount(shown.api)
  const page = await shown.open({ ...person }, '/account')
  await addAuthenticator(page)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('Chrome on Linux', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: /^Rename / }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByText('Laptop', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()

  await page.goto('/account')
  await page.getByRole('button', { name: 'Remove Laptop' }).click()
  await page.getByRole('button', { name: 'Remove passkey' }).click()
  await page.getByText('You have no passkey yet.').waitFor()
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('alert').getByText('The passkey was not accepted.').waitFor()
  await page.context().close()
})

test('the sign-in page works at 360 px and in the dark theme', async () => {
  const page = await shown.open(null, '/sign-in', { colorScheme: 'dark', width: 360, height: 740 })
  await page.getByRole('heading', { name: 'Sign in to Shiplock' }).waitFor()
  await assertAccessible(page)
  await assertNoSidewaysScroll(page)
  await page.context().close()
})
