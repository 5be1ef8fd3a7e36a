import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRun } from '../../server/test/support/ci-runs.ts'
import type { Person } from '../../server/test/support/people.ts'
import { uploadReport } from '../../server/test/support/reports.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'
import { assertAccessible, assertNoSidewaysScroll, startTestConsole, type TestConsole } from './support/console.ts'

let shown: TestConsole
let person: Person
let home: string

before(async () => {
  shown = await startTestConsole()
  person = await shown.person()
  home = `/orgs/${shown.caller.slug}`
})
after(() => shown?.close())

const pathOf = (address: string) => new URL(address).pathname

test('the first address leads to the organization that was open last', async () => {
  const other = await shown.api.caller()
  await shown.api.services.sql`
    insert into members (org_id, user_id, built_in_role, created_at)
    values (${other.orgId}, ${person.userId}, 'viewer', now())`
  const page = await shown.open(person, '/')
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  for (const [from, to] of [
    [shown.caller, other],
    [other, shown.caller],
  ] as const) {
    await page.goto(`/orgs/${from.slug}/runs`)
    await page.getByRole('button', { name: 'switch organization' }).click()
    await page.getByRole('menuitem', { name: to.slug }).click()
    await page.waitForURL(`**/orgs/${to.slug}`)
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.goto('/')
    await page.waitForURL(`**/orgs/${to.slug}`)
  }
  await page.context().close()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`Ctrl-K finds pages, repositories and actions, ${colorScheme}`, async () => {
    await createRun(shown.api, shown.caller, { repository: 'github.com/acme/shop' })
    const page = await shown.open(person, `${home}/runs`, { colorScheme })
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /Search/ })
    await field.waitFor()
    await assertAccessible(page)
    await field.fill('comp')
    await page.getByRole('option', { name: 'Compliance', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**${home}/compliance`)

    await page.keyboard.press('Control+k')
    await field.fill('acme/sh')
    await page.getByRole('option', { name: 'Runs of acme/shop' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/runs\?repository=acme/)

    await page.keyboard.press('Control+k')
    await field.fill('nothing has this name')
    await page.getByText('Nothing matches “nothing has this name”.').waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    await page.context().close()
  })
}

test('two keys open a page, and ? shows which ones', async () => {
  const page = await shown.open(person, home)
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  // At once: the second key counts only if it comes soon after the first.
  await Promise.all([page.keyboard.press('g'), page.keyboard.press('r')])
  await page.waitForURL(`**${home}/runs`)
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Deployments').waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.context().close()
})

test('the first Tab reaches a link that skips the navigation', async () => {
  const page = await shown.open(person, `${home}/runs`)
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
  await page.locator('#content:focus').waitFor()
  await page.context().close()
})

test('a page that opens is announced by its title', async () => {
  const page = await shown.open(person, home)
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('status').getByText('Runs · Shiplock').waitFor({ state: 'attached' })
  await page.context().close()
})

test('at 360 px the navigation opens by a button, and closes when a page opens', async () => {
  const page = await shown.open(person, `${home}/runs`, { width: 360, height: 740 })
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  const link = page.getByRole('link', { name: 'Provenance' })
  assert.equal(await link.isVisible(), false)
  await page.getByRole('button', { name: 'Navigation' }).click()
  await assertAccessible(page)
  await link.click()
  await page.waitForURL(`**${home}/provenance`)
  await link.waitFor({ state: 'hidden' })
  await assertNoSidewaysScroll(page)
  await page.context().close()
})

test('an unknown page and an unknown organization say so', async () => {
  const page = await shown.open(person, `${home}/nothing`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.goto('/orgs/somebody-else/runs')
  await page.getByRole('heading', { name: 'Organization not found' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Go to your organizations' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.ok(pathOf(page.url()).startsWith('/orgs/org-'))
  await page.context().close()
})

test('a session that has ended leads to the sign-in page and back', async () => {
  const guest = await shown.person()
  const page = await shown.open(guest, `${home}/runs`)
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await shown.api.services.sql`update user_sessions set ended_at = now() where user_id = ${guest.userId}`
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.goto(`${home}/runs?status=failure`)
  await page.getByRole('heading', { name: 'Sign in to Shiplock' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('next'), `${home}/runs?status=failure`)
  await page.context().close()
})

test('a session that ends while somebody writes leaves what was written, and it can be sent afterwards', async () => {
  const writer = await shown.person()
  await uploadReport(shown.api, shown.caller, sarif([sarifResult('rule')]))
  const page = await shown.open(writer, `${home}/security/issues`)
  await page.getByRole('table').getByRole('link').first().click()
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Dismiss 1 issue' })
  await dialog.getByRole('radio', { name: 'Mitigated' }).check()
  await dialog.getByLabel('Comment').fill('The input is checked one function earlier.')
  const { sql } = shown.api.services
  await sql`update user_sessions set ended_at = now() where user_id = ${writer.userId}`
  await dialog.getByRole('button', { name: 'Dismiss' }).click()
  const notice = page.getByRole('alert').filter({ hasText: 'Your session has ended.' })
  await notice.getByRole('link', { name: 'Sign in again' }).waitFor()
  assert.equal(await dialog.getByLabel('Comment').inputValue(), 'The input is checked one function earlier.')
  await assertAccessible(page)
  // As if they had signed in again in another tab, and come back.
  await sql`update user_sessions set ended_at = null where user_id = ${writer.userId}`
  await page.evaluate('dispatchEvent(new Event("focus"))')
  await notice.waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByText('Dismissed 1 issue').waitFor()
  await page.context().close()
})

test('the menu of the account opens by keyboard, and gives the focus back', async () => {
  const page = await shown.open(person, home)
  const button = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: person.name })
  for (const _ of ['the menu is loaded', 'the menu is there']) {
    await button.press('Enter')
    await page.getByRole('menuitem', { name: 'Account' }).waitFor()
    await page.locator('[role=menu] :focus').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await page.locator('button[aria-haspopup=menu][aria-expanded=false]:focus').waitFor()
  }
  await page.context().close()
})
