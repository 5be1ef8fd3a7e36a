import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { upsertPassword } from '../../server/src/access/sign-in/account.store.ts'
import { hashPassword } from '../../server/src/access/sign-in/password.ts'
import type { HostCredentials } from '../../server/src/codehosts/code-host.ts'
import { MINUTE_MS } from '../../server/src/platform/clock.ts'
import { PASSWORD } from '../../server/test/support/accounts.ts'
import { createPerson, type Person, requestAs } from '../../server/test/support/people.ts'
import { type AccountHosts, startAccountHosts } from './support/account-hosts.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

type Way = {
  host: string
  provider: string
  /** The label of the field, and what is entered. */
  account: [string, string]
  kind: string | null
  fields: Record<string, string>
  secret: string
  given: HostCredentials
}

const TENANT = '7d3f2a10-0000-4000-8000-000000000001'

/** What a person chooses and enters for each kind of credentials, and what the host is then given. */
const WAYS: Way[] = [
  {
    ...{ host: 'GitLab', provider: 'gitlab', account: ['Group', 'acme/platform'], kind: null },
    ...{ fields: {}, secret: 'Access token', given: { type: 'token', token: 's3cret' } },
  },
  {
    ...{ host: 'Bitbucket', provider: 'bitbucket', account: ['Workspace', 'acme-token'], kind: 'Access token' },
    ...{ fields: {}, secret: 'Access token', given: { type: 'token', token: 's3cret' } },
  },
  {
    ...{ host: 'Bitbucket', provider: 'bitbucket', account: ['Workspace', 'acme-consumer'], kind: 'OAuth consumer' },
    ...{ fields: { Key: 'consumer-key' }, secret: 'Secret' },
    given: { type: 'client', client_id: 'consumer-key', client_secret: 's3cret', tenant_id: null },
  },
  {
    ...{
      host: 'Azure DevOps',
      provider: 'azure',
      account: ['Organization', 'acme-pat'],
      kind: 'Personal access token',
    },
    ...{ fields: {}, secret: 'Personal access token', given: { type: 'token', token: 's3cret' } },
  },
  {
    ...{ host: 'Azure DevOps', provider: 'azure', account: ['Organization', 'acme-sp'], kind: 'Service principal' },
    ...{ fields: { 'Directory (tenant) ID': TENANT, 'Application (client) ID': 'app-id' }, secret: 'Client secret' },
    given: { type: 'client', client_id: 'app-id', client_secret: 's3cret', tenant_id: TENANT },
  },
]

let hosts: AccountHosts
let shown: TestConsole
let admin: Person

before(async () => {
  hosts = startAccountHosts()
  shown = await startTestConsole({ codeHosts: hosts.codeHosts })
  admin = await shown.person()
})
after(() => shown?.close())

const path = () => `/orgs/${shown.caller.slug}/settings/code-hosts`
const dialogOf = (page: Page) => page.getByRole('dialog')
const card = (page: Page, login: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: login, exact: true }) })

async function choose(page: Page, host: string): Promise<void> {
  await page.getByRole('button', { name: 'Connect a code host' }).click()
  await page.getByRole('menuitem', { name: host }).click()
  await page.getByRole('dialog', { name: `Connect ${host}` }).waitFor()
}

/** The input of a secret: its label is also that of a radio button. */
const secretField = (page: Page, label: string) =>
  dialogOf(page).locator('input[type=password]').and(page.getByLabel(label))

async function connect(page: Page, account: string, token: string): Promise<void> {
  await dialogOf(page).getByLabel('Group').fill(account)
  await secretField(page, 'Access token').fill(token)
  await dialogOf(page).getByRole('button', { name: 'Connect account' }).click()
}

test('the empty page names the hosts, and its menu is operated with the keyboard', async () => {
  const page = await shown.open(admin, path())
  await page.getByText('GitHub, GitLab, Bitbucket or Azure DevOps.').waitFor()
  await page.getByRole('button', { name: 'Connect a code host' }).press('Enter')
  const items = page.getByRole('menuitem')
  await page.getByRole('menuitem', { name: 'GitHub', disabled: false }).waitFor()
  assert.deepEqual(await items.allTextContents(), ['GitHub', 'GitLab', 'Bitbucket', 'Azure DevOps'])
  await assertAccessible(page)
  await items.first().focus()
  for (const _ of ['GitLab', 'Bitbucket']) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Connect Bitbucket' })
  await dialog.waitFor()
  await page.waitForFunction('document.activeElement.dataset.path === "account"')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Connect a code host' }).and(page.locator(':focus')).waitFor()
  await page.context().close()
})

for (const { host, provider, account, kind, fields, secret, given } of WAYS)
  test(`an account on ${host} is connected: ${secret}`, async () => {
    const page = await shown.open(admin, path())
    await choose(page, host)
    const dialog = dialogOf(page)
    await dialog.getByText(`${host} may not reach this server`).waitFor()
    if (kind) await dialog.getByRole('radio', { name: kind }).check()
    await dialog.getByRole('button', { name: 'Connect account' }).click()
    await assertCount(dialog.getByText(/ is required\.$/), 2 + Object.keys(fields).length)
    await dialog.getByLabel(account[0]).fill(account[1])
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
    const input = secretField(page, secret)
    assert.equal(await input.getAttribute('autocomplete'), 'one-time-code')
    await input.fill(' s3cret ')
    await dialog.getByRole('button', { name: 'Connect account' }).click()
    await page.getByText(`Connected ${account[1]}. The import has started.`).waitFor()
    await card(page, account[1]).getByText(`${host} · `).waitFor()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(hosts.tried.at(-1), { provider, account: account[1], credentials: given })
    assert.ok(!(await page.content()).includes('s3cret'))
    await page.context().close()
  })

test('what the host refuses is shown at its field, and what was typed stays', async () => {
  const { api } = shown
  const other = await api.caller()
  const stranger = await createPerson(api, { orgId: other.orgId, slug: other.slug })
  const body = { provider: 'gitlab', account: 'theirs', credentials: { token: 'good' } }
  assert.equal((await requestAs(api, stranger, 'POST', '/code-hosts', body)).status, 201)
  const page = await shown.open(admin, path())
  await choose(page, 'GitLab')
  const group = dialogOf(page).getByLabel('Group')
  const token = secretField(page, 'Access token')
  for (const [account, secret, field, message] of [
    ['acme', 'wrong', token, 'does not accept the credentials'],
    ['nobody', 'good', group, 'does not exist on gitlab'],
    ['theirs', 'good', group, 'another organization of this server'],
  ] as const) {
    await connect(page, account, secret)
    await dialogOf(page).getByText(message).waitFor()
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    await field.and(page.locator(':focus')).waitFor()
    assert.equal(await token.inputValue(), secret)
  }
  await connect(page, 'down', 'good')
  await dialogOf(page).getByRole('alert').getByText('cannot be reached. Try again later.').waitFor()
  await assertAccessible(page)
  await page.context().close()
})

test('credentials are replaced with a fresh sign-in, and the account is disconnected', async () => {
  const { api } = shown
  const person = await shown.person()
  await upsertPassword(api.services.sql, person.userId, await hashPassword(PASSWORD, person.userId), api.clock.now())
  const body = { provider: 'azure', account: 'renewed', credentials: { token: 'old' } }
  assert.equal((await requestAs(api, person, 'POST', '/code-hosts', body)).status, 201)
  api.clock.advance(16 * MINUTE_MS)
  const page = await shown.open(person, path())
  await page.getByRole('button', { name: 'Replace credentials of renewed' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replace credentials of renewed' })
  await secretField(page, 'Personal access token').fill('new')
  await dialog.getByRole('button', { name: 'Replace credentials' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Confirm it is you' })
  await confirmation.getByLabel('Password').fill(PASSWORD)
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('Replaced the credentials of renewed.').waitFor()
  const credentials = { type: 'token', token: 'new' }
  assert.deepEqual(hosts.tried.at(-1), { provider: 'azure', account: 'id-of-renewed', credentials })

  await page.getByRole('button', { name: 'Disconnect renewed' }).click()
  await dialogOf(page).getByText('removes its webhooks from Azure DevOps and forgets the credentials').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Disconnect account' }).click()
  await card(page, 'renewed').waitFor({ state: 'detached' })
  await page.context().close()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the connections and their dialogs have no violations and fit 360 px, ${colorScheme}`, async () => {
    const page = await shown.open(admin, path(), { colorScheme })
    await card(page, 'acme-sp').waitFor()
    await assertAccessible(page)
    for (const { host, kind } of WAYS) {
      await choose(page, host)
      if (kind) await dialogOf(page).getByRole('radio', { name: kind }).check()
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
      await page.keyboard.press('Escape')
      await dialogOf(page).waitFor({ state: 'detached' })
      await assertNoSidewaysScroll(page)
      await page.setViewportSize({ width: 1440, height: 900 })
    }
    await page.context().close()
  })
