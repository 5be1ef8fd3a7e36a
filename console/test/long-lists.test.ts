import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertIssues } from '../../server/test/support/many-issues.ts'
import { requestAs } from '../../server/test/support/people.ts'
import { startTestConsole, type TestConsole } from './support/console.ts'

const ROWS = 100_000
const ROWS_PER_PAGE = 10_000
const PATIENCE_MS = 240_000
const SMALL_PAGE = 5

let shown: TestConsole

before(async () => {
  shown = await startTestConsole()
  await insertIssues(shown.api, shown.caller.orgId, 1000)
})
after(() => shown?.close())

test('a list of 100,000 rows scrolls to its end with few elements on the page', async () => {
  const { api, caller } = shown
  const reader = await shown.person({ role: 'viewer' })
  const page = await shown.open(reader)
  // The same issues of the server again and again, with other ids, in pages that grow the list quickly.
  const { body } = await requestAs(api, reader, 'GET', '/security/issues?limit=1000')
  let sent = 0
  await page.route('**/security/issues?*', (route) => {
    if (route.request().url().includes('count=true')) {
      const meta = { ...body.meta, matching: { count: 10_000, exact: false } }
      return route.fulfill({ json: { data: [], next_cursor: null, meta } })
    }
    const data = Array.from({ length: ROWS_PER_PAGE }, (_, index) => ({
      ...body.data[index % body.data.length],
      id: `00000000-0000-7000-8000-${String(sent + index).padStart(12, '0')}`,
    }))
    sent += ROWS_PER_PAGE
    return route.fulfill({ json: { data, next_cursor: sent < ROWS ? `after-${sent}` : null, meta: body.meta } })
  })
  await page.goto(`/orgs/${caller.slug}/security/issues`)
  await page.getByRole('row').nth(3).waitFor()
  await page.getByText('10,000+ issues', { exact: true }).waitFor()
  const lastRow = page.locator(`[role=row][aria-rowindex="${ROWS + 1}"]`)
  const deadline = performance.now() + PATIENCE_MS
  while ((await lastRow.count()) === 0) {
    assert.ok(performance.now() < deadline, 'the list does not end')
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  }
  assert.equal(await page.getByRole('table').getAttribute('aria-rowcount'), String(ROWS + 1))
  assert.ok((await page.getByRole('row').count()) < 60)
})

test('a list says how many rows match, “Select all” says which it takes, and each filter is a step back', async () => {
  const { caller } = shown
  const security = await shown.person({ role: 'security' })
  const page = await shown.open(security, `/orgs/${caller.slug}/security/issues`)
  await page.getByText('1,000 issues', { exact: true }).waitFor()
  await page.getByRole('checkbox', { name: 'Select the 100 issues that are loaded' }).check()
  const bar = page.getByRole('region', { name: 'Selection' })
  await bar.getByText('100 issues selected').waitFor()
  await bar.getByText('Not 1,000 issues: only those that are loaded').waitFor()
  await bar.getByRole('button', { name: 'Clear selection' }).click()
  const counts = page.getByRole('group', { name: 'Open issues by severity' })
  await counts.getByRole('button').first().click()
  await page.waitForURL(/severity=critical/)
  await page.getByRole('combobox', { name: 'Kind' }).click()
  await page.getByRole('option', { name: 'Code', exact: true }).click()
  await page.waitForURL(/kind=code/)
  await counts.getByText('Open issues with the other filters').waitFor()
  await page.goBack()
  await page.waitForURL((url) => url.searchParams.has('severity') && !url.searchParams.has('kind'))
  await page.context().close()
})

test('the offer to show changes moves no row', async () => {
  const { api, caller } = shown
  const reader = await shown.person({ role: 'viewer' })
  const page = await shown.open(reader)
  const { body } = await requestAs(api, reader, 'GET', '/security/issues?limit=100')
  // Small pages: only longer lists are not read again by themselves.
  await page.route('**/security/issues?*', (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
    const data = body.data.slice(from, from + SMALL_PAGE)
    return route.fulfill({ json: { data, next_cursor: String(from + SMALL_PAGE), meta: body.meta } })
  })
  await page.goto(`/orgs/${caller.slug}/security/issues`)
  const row = page.locator('[role=row][aria-rowindex="5"]')
  await page.locator(`[role=row][aria-rowindex="${2 * SMALL_PAGE + 2}"]`).waitFor({ state: 'attached' })
  const before = await row.boundingBox()
  await page.clock.runFor(60_000)
  await page.getByRole('button', { name: 'Show changes' }).waitFor()
  assert.deepEqual(await row.boundingBox(), before)
  await page.getByRole('button', { name: 'Show changes' }).click()
  await page.getByRole('button', { name: 'Show changes' }).waitFor({ state: 'detached' })
  await page.context().close()
})
