import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Json } from '../../server/test/support/json.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { uploadReport } from '../../server/test/support/reports.ts'
import { sarif } from '../../server/test/support/sarif.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { LOG4SHELL, reportHostileTexts, reportProblems, ruleResult } from './support/security.ts'

let shown: TestConsole
let ada: Person
let path: string

before(async () => {
  shown = await startTestConsole()
  ada = await shown.person({ role: 'security' })
  path = `/orgs/${shown.caller.slug}/security/issues`
  await reportHostileTexts(shown.api, shown.caller)
  shown.api.clock.advance(60_000)
  await reportProblems(shown.api, shown.caller)
})
after(() => shown?.close())

/** The list without the many issues of other repositories, which would need scrolling. */
const inApp = () => `${path}?repository=acme%2Fapp`

const rowOf = (page: Page, title: string) => page.getByRole('row').filter({ hasText: title })

/** The dialog is ready for keys. */
const focusedReason = (page: Page) => page.getByRole('dialog').locator('input[type=radio]:focus')

async function issueWith(title: string): Promise<Json> {
  const { body } = await requestAs(shown.api, ada, 'GET', '/security/issues?limit=1000')
  return body.data.find((issue: Json) => issue.title.includes(title))
}

test('triage by keyboard alone: dismiss with a reason, undo, and dismiss again from the page of the issue', async () => {
  const page = await shown.open(ada, inApp())
  await rowOf(page, 'SQL injection').waitFor()
  // Down to the row, whichever place it has.
  const titles = await page.getByRole('row').allInnerTexts()
  const place = titles.findIndex((text) => text.includes('SQL injection'))
  for (let row = 0; row < place; row++) await page.keyboard.press('j')
  await page.keyboard.press('d')
  await page.getByRole('dialog', { name: 'Dismiss 1 issue' }).waitFor()
  await focusedReason(page).waitFor()
  await page.keyboard.press('4')
  assert.ok(await page.getByRole('radio', { name: 'Risk accepted' }).isChecked())
  await page.getByLabel('Comment').focus()
  await page.keyboard.type('Behind the firewall')
  await page.keyboard.press('Control+Enter')
  await rowOf(page, 'SQL injection').getByText('Dismissed').waitFor()
  await page.getByText('Dismissed 1 issue').waitFor()
  assert.equal((await issueWith('SQL injection')).dismiss_reason, 'risk_accepted')

  await page.keyboard.press('u')
  await rowOf(page, 'SQL injection').getByText('Open').waitFor()
  await page.getByText('Undone').waitFor()
  assert.equal((await issueWith('SQL injection')).status, 'open')

  await page.keyboard.press('o')
  await page.getByRole('heading', { level: 1, name: 'SQL injection' }).waitFor()
  await page.getByText('undid a decision').waitFor()
  await page.keyboard.press('d')
  await focusedReason(page).waitFor()
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Won’t fix' }).waitFor()
  await page.keyboard.press('e')
  await page.getByRole('button', { name: 'Dismiss', exact: true }).waitFor()
})

test('a decision that the server refuses is taken back on the screen, with the reason', async () => {
  const page = await shown.open(ada, path)
  await rowOf(page, 'Path traversal').getByRole('checkbox').check()
  const { id } = await issueWith('Path traversal')
  await page.route('**/security/triage', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 503,
          json: { error: { code: 'unavailable', message: 'A report is being read.', details: {} } },
        })
      : route.continue(),
  )
  await page.keyboard.press('d')
  await focusedReason(page).waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'A report is being read.' }).waitFor()
  await rowOf(page, 'Path traversal').getByText('Open').waitFor()
  assert.equal((await requestAs(shown.api, ada, 'GET', `/security/issues/${id}`)).body.data.status, 'open')
})

test('a vulnerability of a package is dismissed at any place and in any version; other problems have no such choice', async () => {
  const page = await shown.open(ada, `${path}/${(await issueWith(LOG4SHELL)).id}`)
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Dismiss 1 issue' })
  await dialog.getByRole('radio', { name: 'Mitigated' }).check()
  await dialog.getByRole('checkbox', { name: 'At any place and in any version' }).check()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByText('Dismissed 1 issue').waitFor()
  const { body } = await requestAs(shown.api, ada, 'GET', '/security/triage?action=dismiss')
  const anywhere = body.data.filter(({ scope }: Json) => scope === 'vulnerability')
  assert.deepEqual(
    anywhere.map(({ reason, status }: Json) => [reason, status]),
    [['mitigated', 'active']],
  )
  await page.getByRole('button', { name: 'Undo', exact: true }).first().click()
  await page.getByText('Undone').waitFor()

  await page.goto(`${path}/${(await issueWith('Weak hash')).id}`)
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  await dialog.getByRole('radio', { name: 'Mitigated' }).waitFor()
  await assertCount(dialog.getByRole('checkbox'), 0)
})

test('30 issues are selected and dismissed together, and reopened by one Undo', async () => {
  const many = Array.from({ length: 30 }, (_, number) => ruleResult(`Copied problem ${number}`, 5))
  await uploadReport(shown.api, shown.caller, sarif(many, 'Bulk'), { repository: 'acme/bulk' })
  const page = await shown.open(ada, `${path}?repository=acme%2Fbulk`)
  await page.getByRole('checkbox', { name: /^Select the \d+ issues that are loaded$/ }).check()
  const bar = page.getByRole('region', { name: 'Selection' })
  await bar.getByText('30 issues selected').waitFor()
  await bar.getByRole('button', { name: 'Dismiss' }).click()
  const dialog = page.getByRole('dialog', { name: 'Dismiss 30 issues' })
  await dialog.getByText('30 issues with 30 findings').waitFor()
  await dialog.getByRole('radio', { name: 'Used in tests' }).check()
  await dialog.getByRole('radio', { name: 'In 30 days' }).check()
  await dialog.getByRole('button', { name: 'Dismiss' }).click()
  await page.getByText('Dismissed 30 issues').waitFor()
  const count = async (status: string) =>
    (await requestAs(shown.api, ada, 'GET', `/security/issues?repository=acme/bulk&status=${status}`)).body.data.length
  assert.equal(await count('dismissed'), 30)
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('Undone').waitFor()
  assert.equal(await count('open'), 30)
})

test('views: what to fix first, and one of my own that follows me to another browser', async () => {
  const page = await shown.open(ada, path)
  await page.getByRole('link', { name: 'Known exploited' }).click()
  await rowOf(page, LOG4SHELL).getByText('Exploited').waitFor()
  await assertCount(page.getByRole('row'), 2)
  await page.getByRole('link', { name: 'Fix first' }).click()
  await rowOf(page, 'SQL injection').waitFor()
  await assertCount(rowOf(page, 'Weak hash'), 0)
  await page.getByLabel('Kind', { exact: true }).click()
  await page.getByRole('option', { name: 'Dependency' }).click()
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByLabel('Name of the view').fill('Libraries first')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Libraries first' }).waitFor()

  const other = await shown.open(ada, path)
  await other.getByRole('link', { name: 'Libraries first' }).click()
  await other.getByRole('button', { name: 'Delete view Libraries first' }).click()
  await other.getByText('View “Libraries first” deleted').waitFor()
  assert.match(other.url(), /urgent=yes/)
  await other.goBack()
  await other.waitForURL((url) => url.search === '')
})

test('a column sorts the list, and odd values of the address count as not given', async () => {
  const page = await shown.open(ada, `${path}?status=odd&sort=9&repository=shop&limit=-1&utm_source=mail`)
  await page.getByRole('button', { name: 'Severity' }).click()
  await page.waitForURL(/sort=severity/)
  await page.getByRole('columnheader', { name: 'Severity' }).and(page.locator('[aria-sort=descending]')).waitFor()
  await page.getByRole('row').nth(1).getByText('Critical').waitFor()
})

test('people without the permission see no way to triage', async () => {
  const viewer = await shown.person({ role: 'viewer' })
  const page = await shown.open(viewer, inApp())
  await rowOf(page, 'Weak hash').waitFor()
  await assertCount(page.getByRole('checkbox'), 0)
  await page.keyboard.press('j')
  await page.keyboard.press('d')
  await page.keyboard.press('o')
  await page.getByRole('heading', { level: 2, name: 'History' }).waitFor()
  await assertCount(page.getByRole('button', { name: 'Dismiss' }), 0)
})

test('an issue is split and merged again', async () => {
  const { id } = await issueWith(LOG4SHELL)
  const page = await shown.open(ada, `${path}/${id}`)
  await page.getByRole('button', { name: 'Split', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox').first().check()
  await dialog.getByRole('button', { name: 'Split', exact: true }).click()
  await page.getByText('Split 1 finding off').waitFor()
  await page.getByRole('button', { name: 'Merge', exact: true }).click()
  await dialog.getByLabel('Search').fill('log4j')
  await dialog.getByRole('radio').first().check()
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click()
  await page.getByText('Merged 2 issues', { exact: true }).waitFor()
  await page
    .getByRole('heading', { name: 'Findings 2' })
    .or(page.getByText('Shares the vulnerability').first())
    .waitFor()
})

test('texts of a hostile report are only text', async () => {
  const { id } = await issueWith('First line')
  const page = await shown.open(ada, `${path}/${id}`)
  const more = page.getByRole('button', { name: 'Show more of the description' })
  if ((await more.count()) > 0) await more.click()
  await page.goto(`${path}?repository=acme%2Fhostile`)
  await rowOf(page, '<img src=x').waitFor()
  await rowOf(page, 'safe �txt.exe� name').waitFor()
  assert.equal(await page.title(), 'Issues · Shiplock')
  await assertCount(page.locator('a[href^="javascript:"]'), 0)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
})

test('lists say what to do if they are empty or cannot be read', async () => {
  const page = await shown.open(ada, `${path}?package=nothing-like-it`)
  await page.getByRole('heading', { name: 'No issues match the filters' }).waitFor()
  await page.route('**/security/issues?*', (route) => route.abort())
  await page.getByRole('button', { name: 'Show all issues' }).click()
  await page.clock.runFor(10_000)
  await page.getByText('The issues could not be loaded').waitFor()
  await page.unroute('**/security/issues?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('row').nth(1).waitFor()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`issues, one issue and the dialog have no barriers, ${colorScheme}`, async () => {
    const { id } = await issueWith(LOG4SHELL)
    const page = await shown.open(ada, `${path}/${id}`, { colorScheme })
    await page.getByText('First seen').last().waitFor()
    await assertAccessible(page)
    await page.setViewportSize({ width: 360, height: 740 })
    await assertNoSidewaysScroll(page)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(inApp())
    await rowOf(page, 'Weak hash').getByRole('checkbox').check()
    await assertAccessible(page)
    await page.keyboard.press('d')
    await page.getByRole('dialog').waitFor()
    await assertAccessible(page)
  })
}
