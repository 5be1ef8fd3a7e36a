import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Json } from '../../server/test/support/json.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { seedCompliance, TESTED } from './support/compliance.ts'
import { assertAccessible, assertCount, startTestConsole, type TestConsole } from './support/console.ts'

let shown: TestConsole
let tested: string
let scanned: string
let author: Person
let policies: string

before(async () => {
  shown = await startTestConsole()
  ;({ tested, scanned } = await seedCompliance(shown))
  author = await shown.person({ role: 'security', name: 'Barbara Liskov' })
  policies = `/orgs/${shown.caller.slug}/compliance/policies`
})
after(() => shown?.close())

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Policy file' })

async function write(page: Page, text: string): Promise<void> {
  await editorOf(page).fill(text)
}

async function stored(id: string): Promise<Json> {
  return (await requestAs(shown.api, author, 'GET', `/policies/${id}`)).body.data
}

test('a policy is tried on the last runs, and applied with a reason', async () => {
  const page = await shown.open(author, `${policies}/${tested}`)
  await page.getByRole('tab', { name: 'Edit' }).click()
  await write(page, TESTED.replace('monitor', 'enforce').replace('== "success"', '== "failure"'))
  await page.getByText('No problems').waitFor()

  await page.getByRole('button', { name: 'Start dry run' }).click()
  await page.getByText('3 runs evaluated. Against the applied version, 2 newly fail and 1 newly passes.').waitFor()
  const results = page.getByRole('list', { name: 'Results of the dry run' }).locator('> li')
  await assertCount(results, 3)
  await page.getByText('Newly passing (1)').click()
  await assertCount(results, 1)
  await results.getByText('passes now: ended').waitFor()
  await assertAccessible(page)
  assert.equal((await stored(tested)).version, 1)

  await page.getByRole('button', { name: 'Apply policy' }).click()
  const dialog = page.getByRole('dialog', { name: 'Apply policy' })
  await dialog.getByText('2 newly fail').waitFor()
  await dialog.getByRole('textbox', { name: 'New version' }).waitFor()
  await assertAccessible(page)
  await dialog.getByLabel('Reason').fill('Failures must not pass.')
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('Version 2 of tests-passed is in force').waitFor()
  await page.getByText('Version 2, applied').waitFor()
  const { version, mode, reason, changed_by } = await stored(tested)
  const named = `${author.name} <${author.email}>`
  assert.deepEqual([version, mode, reason, changed_by.name], [2, 'enforce', 'Failures must not pass.', named])

  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByText('Different: mode, rules.ended.expression.').waitFor()
  await page.getByRole('textbox', { name: 'Version 1' }).waitFor()
  await page.getByText('Failures must not pass.').first().waitFor()
  await page.context().close()
})

test('mistakes are found while typing: in form at once, in expressions by the server; each leads to its line', async () => {
  const page = await shown.open(author, `${policies}/${scanned}?tab=edit`)
  const file = TESTED.replace('tests-passed', 'scan-fresh')
  await write(page, file.replace('monitor', 'sometimes'))
  await page.getByText('1 problem').waitFor()
  await page.getByRole('button', { name: /Line 3.*mode must be monitor or enforce/ }).click()
  assert.ok(await editorOf(page).evaluate((element) => element === document.activeElement))
  await page.keyboard.type('monitor #')
  await page.getByText('No problems').waitFor()

  await write(page, file.replace('run.status', 'run.stats'))
  await page.getByRole('button', { name: /Line 9.*rules\[0\]\.expression/ }).waitFor()
  assert.ok(await page.getByRole('button', { name: 'Apply policy' }).isDisabled())
  await assertAccessible(page)
  await write(page, file.replace('scan-fresh', 'other-name'))
  await page.getByRole('button', { name: /name must stay “scan-fresh”/ }).waitFor()
  await page.context().close()
})

test('fields are completed from the schema, and the keyboard leaves the editor', async () => {
  const page = await shown.open(author, `${policies}/new?template=empty`)
  await write(page, 'name: mine\nmode: ')
  await page.keyboard.press('Control+End')
  await page.keyboard.press('Control+Space')
  await page.getByRole('option', { name: /enforce/ }).waitFor()
  await page.keyboard.press('Escape')
  // At once: Tab leaves the editor only if it comes soon after Escape.
  await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Tab')])
  assert.ok(await editorOf(page).evaluate((element) => element !== document.activeElement))
  await page.context().close()
})

test('a new policy starts from a template; its draft stays in the tab, and leaving asks first', async () => {
  const page = await shown.open(author, policies)
  await page.getByRole('link', { name: 'New policy' }).click()
  await page.getByRole('button', { name: /Change reviewed/ }).click()
  await page.getByText('No problems').waitFor()
  await editorOf(page).press('Control+End')
  await page.keyboard.type('# Mine')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave without applying?' })
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  await page.goBack()
  await page.getByText('# Mine').waitFor()

  await page.getByRole('button', { name: 'Apply policy' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'reviewed' }).waitFor()
  await page.context().close()
})

test('who has applied another version meanwhile is named, and the text can be applied over it', async () => {
  const page = await shown.open(author, `${policies}/${scanned}?tab=edit`)
  const other = await shown.person({ role: 'security', name: 'Grace Hopper' })
  const file = (await stored(scanned)).current.file as string
  await write(page, `${file.replace('enforce', 'monitor')}# Barbara\n`)
  await page.getByText('No problems').waitFor()
  const change = { file: file.replace('[production]', '[staging]'), reason: 'Staging first.' }
  assert.equal((await requestAs(shown.api, other, 'POST', '/policies', change)).status, 201)

  await page.getByRole('button', { name: 'Apply policy' }).click()
  const dialog = page.getByRole('dialog', { name: 'Apply policy' })
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await dialog.getByText(/Grace Hopper <.*> applied version 2.*Staging first/).waitFor()
  await dialog.getByRole('button', { name: 'Compare with version 2' }).click()
  await dialog.getByRole('textbox', { name: 'Version 2' }).getByText('[staging]').waitFor()
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByText('Version 3 of scan-fresh is in force').waitFor()
  await page.context().close()
})

test('without the permission a policy can be read only', async () => {
  const viewer = await shown.person({ role: 'viewer' })
  const page = await shown.open(viewer, `${policies}/${tested}?tab=edit`)
  await page.getByText('“Manage policies”').waitFor()
  await assertCount(page.getByRole('tab', { name: 'Edit' }), 0)
  await assertCount(page.getByRole('button', { name: 'Delete policy' }), 0)
  await page.goto(`${policies}/new`)
  await page.getByRole('heading', { name: 'You do not have permission' }).waitFor()
  await page.context().close()
})

test('a deleted policy is no longer listed', async () => {
  const page = await shown.open(author, `${policies}/${tested}`)
  await page.getByRole('button', { name: 'Delete policy' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('tests-passed was deleted').waitFor()
  await page.getByRole('link', { name: 'scan-fresh' }).waitFor()
  await assertCount(page.getByRole('link', { name: 'tests-passed', exact: true }), 0)
  await page.context().close()
})
