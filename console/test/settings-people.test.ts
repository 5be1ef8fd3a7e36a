import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAccount, PASSWORD } from '../../server/test/support/accounts.ts'
import { requestAs } from '../../server/test/support/people.ts'
import { assertAccessible, startTestConsole, type TestConsole } from './support/console.ts'

let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
})
after(() => shown?.close())

const settings = (path: string) => `/orgs/${shown.caller.slug}/settings/${path}`
const dialog = (page: Page) => page.getByRole('dialog')
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('an admin invites a person, who joins by the link, and whose new role takes effect live', async () => {
  const admin = await shown.person()
  const page = await shown.open(admin, settings('members'))
  await page.getByRole('button', { name: 'Invite member' }).click()
  await dialog(page).getByLabel('Email').fill('nobody')
  await dialog(page).getByRole('button', { name: 'Send invitation' }).click()
  await dialog(page).getByText('Enter an email address.').waitFor()
  await dialog(page).getByLabel('Email').fill('grace@example.com')
  await dialog(page).getByLabel('Role').selectOption('Developer')
  await dialog(page).getByRole('button', { name: 'Send invitation' }).click()
  const link = new URL(await dialog(page).getByLabel('Invitation link').inputValue())
  await dialog(page).getByRole('button', { name: 'Done' }).click()

  const invited = await shown.open(null, link.pathname + link.hash)
  await invited.getByLabel('Name').fill('Grace Hopper')
  await invited.getByLabel('Password').fill(PASSWORD)
  await invited.getByRole('button', { name: 'Create account' }).click()
  await invited.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await invited.goto(settings('members'))
  await invited.getByRole('heading', { name: 'You do not have permission' }).waitFor()
  await invited.getByText('Manage members, roles and single sign-on').first().waitFor()

  await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click()
  await page.getByRole('menuitem', { name: 'Change role' }).click()
  await dialog(page).getByLabel('Role').selectOption('Org admin')
  await dialog(page).getByRole('button', { name: 'Save role' }).click()
  await page.getByRole('status').getByText('Grace Hopper is now Org admin.').waitFor()
  await row(page, 'Grace Hopper').getByText('Org admin').waitFor()
  await invited.getByRole('button', { name: 'Invite member' }).waitFor()

  await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await dialog(page).getByRole('button', { name: 'Disable member' }).click()
  await row(page, 'Grace Hopper').getByText('Disabled').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'Grace Hopper').getByText('Active').waitFor()
  await invited.context().close()
  await page.context().close()
})

test('an invitation is sent again and revoked; the filters of members are in the address', async () => {
  const admin = await shown.person()
  await requestAs(shown.api, admin, 'POST', '/invitations', { email: 'margaret@example.com', role: 'viewer' })
  const page = await shown.open(admin, settings('members?tab=invitations'))
  await page.getByRole('button', { name: 'Resend to margaret@example.com' }).click()
  assert.match(await dialog(page).getByLabel('Invitation link').inputValue(), /\/join#token=/)
  await dialog(page).getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Revoke margaret@example.com' }).click()
  await dialog(page).getByRole('button', { name: 'Revoke invitation' }).click()
  await row(page, 'margaret@example.com').waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Members' }).click()
  await page.getByLabel('Search').fill('nobody has this name')
  await page.getByRole('heading', { name: 'No member matches the filters' }).waitFor()
  assert.match(page.url(), /search=nobody/)
  await page.context().close()
})

test('a role is created, keeps its name in the form when it is taken, and cannot be deleted while somebody has it', async () => {
  const admin = await shown.person()
  const page = await shown.open(admin, settings('roles'))
  const create = async (name: string) => {
    await page.getByRole('button', { name: 'Create role' }).click()
    await dialog(page).getByLabel('Name').fill(name)
    await dialog(page).getByLabel('Triage findings and issues').check()
    await dialog(page).getByRole('button', { name: 'Save role' }).click()
  }
  await create('Triage team')
  await page.getByRole('columnheader', { name: 'Triage team' }).waitFor()
  await create('Triage team')
  const name = dialog(page).getByLabel('Name')
  await dialog(page).locator('[data-path=name][aria-invalid=true]:focus').waitFor()
  assert.equal(await name.inputValue(), 'Triage team')
  assert.ok(await dialog(page).getByLabel('Triage findings and issues').isChecked())
  await page.keyboard.press('Escape')

  const { data: roles } = (await requestAs(shown.api, admin, 'GET', '/roles')).body
  const role = roles.find((found: { name: string }) => found.name === 'Triage team').id
  const member = await shown.person({ name: 'Barbara Liskov', role: 'viewer' })
  await requestAs(shown.api, admin, 'PATCH', `/members/${member.userId}`, { role })
  const head = page.getByRole('columnheader').filter({ hasText: 'Triage team' })
  await head.getByRole('link', { name: '1 member' }).waitFor()
  await page.getByRole('button', { name: 'Actions for Triage team' }).click()
  await page.getByRole('menuitem', { name: 'Delete role' }).click()
  await dialog(page).getByText('1 member has the role Triage team.').waitFor()
  await dialog(page).getByRole('link', { name: 'Show members' }).click()
  await row(page, 'Barbara Liskov').waitFor()
  assert.match(page.url(), new RegExp(role))
  await page.context().close()
})

test('a setting that needs a fresh sign-in asks for it, and what was typed is sent afterwards', async () => {
  const person = await createAccount(shown.api)
  const page = await shown.open(person, `/orgs/${person.org.split('/').at(-1)}/settings/roles`)
  shown.api.clock.advance(16 * 60_000)
  await page.getByRole('button', { name: 'Create role' }).click()
  await dialog(page).getByLabel('Name').fill('Auditors')
  await dialog(page).getByRole('button', { name: 'Save role' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Confirm it is you' })
  await confirmation.getByLabel('Password').waitFor()
  await page.keyboard.press('Escape')
  await confirmation.waitFor({ state: 'detached' })
  assert.equal(await dialog(page).getByLabel('Name').inputValue(), 'Auditors')
  await dialog(page).getByRole('button', { name: 'Save role' }).click()
  await confirmation.getByLabel('Password').fill(PASSWORD)
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('columnheader', { name: 'Auditors' }).waitFor()
  await page.context().close()
})

test('the account of a member on a code host is set', async () => {
  const admin = await shown.person()
  await shown.person({ name: 'Katherine Johnson' })
  const page = await shown.open(admin, settings('members'))
  await page.getByRole('button', { name: 'Actions for Katherine Johnson' }).click()
  await page.getByRole('menuitem', { name: 'Set code host account' }).click()
  await dialog(page).getByRole('combobox', { name: 'Code host' }).click()
  await page.getByRole('option', { name: 'GitLab' }).click()
  await dialog(page).getByLabel('GitLab username').fill('katherine.j')
  await assertAccessible(page)
  await dialog(page).getByRole('button', { name: 'Save account' }).click()
  await row(page, 'Katherine Johnson').getByText('katherine.j (GitLab)').waitFor()
  await page.context().close()
})
