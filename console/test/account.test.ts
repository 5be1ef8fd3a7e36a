import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import * as OTPAuth from 'otpauth'
import type { Page } from 'playwright-core'
import { createAccount, PASSWORD, signInWith } from '../../server/test/support/accounts.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

const NEW_PASSWORD = 'a plain but long sentence'
let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
})
after(() => shown?.close())

const section = (page: Page, name: string) => page.getByRole('region', { name })

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the account page has no violations and fits 360 px, ${colorScheme}`, async () => {
    const page = await shown.open(await createAccount(shown.api), '/account', { colorScheme })
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    await page.getByText('You have no passkey yet.').waitFor()
    await page.getByText('This session').waitFor()
    assert.equal(await page.title(), 'Account · Shiplock')
    await assertAccessible(page)
    await page.setViewportSize({ width: 360, height: 740 })
    await assertNoSidewaysScroll(page)
    await page.context().close()
  })
}

test('a person changes their name, which the menu shows at once', async () => {
  const page = await shown.open(await createAccount(shown.api), '/account')
  await section(page, 'Profile').getByLabel('Name').fill('Grace Hopper')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByRole('button', { name: /Grace Hopper/ }).waitFor()
  await page.context().close()
})

test('a person changes their password, and reads why a weak one is refused', async () => {
  const person = await createAccount(shown.api)
  const page = await shown.open(person, '/account')
  const { email } = person
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill('passwordpassword')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('alert').getByText('one of the commonest passwords').waitFor()
  await page.getByLabel('New password').fill(NEW_PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Your password was changed.').waitFor()
  assert.equal((await signInWith(shown.api, { email, password: NEW_PASSWORD })).status, 200)
  await page.context().close()
})

test('a person turns two-factor authentication on by the key of the QR code, and off again', async () => {
  const person = await createAccount(shown.api)
  const page = await shown.open(person, '/account')
  const twoFactor = section(page, 'Two-factor authentication')
  await twoFactor.getByRole('button', { name: 'Turn on' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('img', { name: 'QR image of the key' }).waitFor()
  await assertAccessible(page)
  const secret = OTPAuth.Secret.fromBase32(await dialog.locator('code').innerText())
  const now = shown.api.clock.now().getTime()
  await dialog.getByLabel('Code').fill('000000')
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  await dialog.getByRole('alert').getByText('The code is wrong').waitFor()
  await dialog.getByLabel('Code').fill(new OTPAuth.TOTP({ secret }).generate({ timestamp: now }))
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  const codes = page.getByRole('dialog', { name: 'Save your recovery codes' })
  await codes.waitFor()
  await page.getByRole('dialog', { name: 'Turn on two-factor authentication' }).waitFor({ state: 'detached' })
  await assertCount(codes.getByRole('listitem'), 10)
  await assertAccessible(page)
  await codes.getByRole('button', { name: 'I have saved them' }).click()
  await twoFactor.getByText('10 recovery codes are left.').waitFor()
  const { email } = person
  assert.equal((await signInWith(shown.api, { email, password: PASSWORD })).body.error.code, 'totp_required')

  await twoFactor.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
  await twoFactor.getByText('Off', { exact: true }).waitFor()
  assert.equal((await signInWith(shown.api, { email, password: PASSWORD })).status, 200)
  await page.context().close()
})

test('an old sign-in is confirmed before the account changes', async () => {
  const person = await createAccount(shown.api)
  const page = await shown.open(person, '/account')
  await page.getByText('This session').waitFor()
  shown.api.clock.advance(16 * 60_000)
  await section(page, 'Two-factor authentication').getByRole('button', { name: 'Turn on' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm it is you' })
  await dialog.getByLabel('Password').fill('a wrong password')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('dialog', { name: 'Turn on two-factor authentication' }).waitFor()
  await page.context().close()
})

test('a person ends their other sessions', async () => {
  const person = await createAccount(shown.api)
  for (let times = 0; times < 3; times += 1) await signInWith(shown.api, { email: person.email, password: PASSWORD })
  const page = await shown.open(person, '/account')
  const sessions = section(page, 'Sessions')
  await sessions.getByRole('listitem').nth(3).waitFor()
  await sessions
    .getByRole('button', { name: /^Sign out Unknown browser/ })
    .first()
    .click()
  await page.getByText('The session has ended.').waitFor()
  await sessions.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await page.getByText('2 sessions have ended.').waitFor()
  await sessions.getByText('This session').waitFor()
  await sessions.getByRole('listitem').nth(1).waitFor({ state: 'detached' })
  await page.context().close()
})
