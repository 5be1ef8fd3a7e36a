import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { assertAccessible, assertNoSidewaysScroll, startTestConsole, type TestConsole } from './support/console.ts'

/** The pages of this folder, and what shows that they are there. */
const PAGES = [
  ['general', 'General'],
  ['members', 'Members'],
  ['members?tab=invitations', 'Members'],
  ['roles', 'Roles'],
  ['single-sign-on', 'Single sign-on'],
  ['api-keys', 'API keys'],
  ['oidc-trusts', 'OIDC trusts'],
  ['code-hosts', 'Code hosts'],
  ['code-hosts/deliveries', 'Deliveries'],
] as const

let shown: TestConsole
let admin: Person

before(async () => {
  shown = await startTestConsole()
  admin = await shown.person()
  const post = (path: string, body: object) => requestAs(shown.api, admin, 'POST', path, body)
  const answers = await Promise.all([
    post('/roles', { name: 'Triage team', permissions: ['view', 'triage'] }),
    post('/invitations', { email: 'margaret@example.com', role: 'viewer' }),
    post('/oidc-trusts', {
      name: `shop ${'x'.repeat(90)}`,
      issuer: 'https://token.actions.githubusercontent.com',
      conditions: { repository: 'acme/shop', ref: ['refs/heads/main', 'refs/heads/release/*'] },
      scopes: ['write:ci'],
    }),
    post('/api-keys', { name: 'k'.repeat(100), scopes: ['read:pipelines', 'write:ci'] }),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201, 201],
  )
})
after(() => shown?.close())

const settings = (path: string) => `/orgs/${shown.caller.slug}/settings/${path}`

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the settings have no accessibility violations and fit 360 px, ${colorScheme}`, async () => {
    const page = await shown.open(admin, settings(''), { colorScheme })
    for (const [path, title] of PAGES) {
      await page.goto(settings(path))
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      assert.equal(await page.title(), `${title} · Shiplock`)
      await assertAccessible(page)
      if (colorScheme === 'dark') continue
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
      await page.setViewportSize({ width: 1440, height: 900 })
    }
    await page.context().close()
  })
}

test('the menu of a narrow screen is a field; somebody without permission sees which one is missing', async () => {
  const viewer = await shown.person({ role: 'viewer' })
  const page = await shown.open(viewer, settings(''), { width: 360, height: 740 })
  await page.getByRole('heading', { name: 'General', level: 1 }).waitFor()
  await page.getByText('Changing it needs the permission “Manage members, roles and single sign-on”.').waitFor()
  await page.getByRole('combobox', { name: 'Settings' }).selectOption('API keys (no permission)')
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  await page.getByText('“Manage keys, OIDC trusts and code hosts”').waitFor()
  await assertAccessible(page)
  await page.context().close()
})

test('a list that cannot be loaded says so, and is there after another try', async () => {
  const page = await shown.open(admin, settings('general'))
  await page.route('**/api-keys', (route) => route.abort())
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('alert').getByText('The API keys could not be loaded').waitFor()
  await page.unroute('**/api-keys')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table', { name: 'API keys' }).waitFor()
  await page.context().close()
})

test('a trust is described in the words of the CI system, and an error of a hidden field is seen', async () => {
  const page = await shown.open(admin, settings('oidc-trusts'))
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Create OIDC trust' }).click()
  await dialog.getByLabel('Name').fill('payments')
  await dialog.getByLabel('Repository').fill('*/payments')
  await dialog.getByLabel('Branch').fill('main')
  await dialog.getByText('refs/heads/main').waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Create trust' }).click()
  await dialog.locator('[data-error], .mantine-Input-error, [role=alert]').first().waitFor()
  assert.equal(await dialog.getByLabel('Repository').inputValue(), '*/payments')
  await dialog.getByLabel('Repository').fill('acme/payments')
  await dialog.getByRole('button', { name: 'Create trust' }).click()
  await page.getByRole('row').filter({ hasText: 'repository=acme/payments' }).waitFor()

  await page.getByRole('button', { name: 'Test a token' }).click()
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: 'https://token.actions.githubusercontent.com', aud: 'x', repository: 'acme/payments' }
  await dialog.getByLabel('Token').fill(`${part({ alg: 'RS256', kid: '1' })}.${part(claims)}.c2ln`)
  await dialog.getByRole('button', { name: 'Test token' }).click()
  await dialog.getByText('The token is rejected').waitFor()
  const compared = dialog.getByRole('region', { name: 'payments' })
  await compared.getByRole('row').filter({ hasText: 'repository' }).getByText('Matches').waitFor()
  await compared.getByRole('row').filter({ hasText: 'aud' }).getByText('Differs').waitFor()
  await assertAccessible(page)
  await page.context().close()
})
