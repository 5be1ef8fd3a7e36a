import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createRun, patchRun } from '../../server/test/support/ci-runs.ts'
import type { Person } from '../../server/test/support/people.ts'
import { assertAccessible, assertNoSidewaysScroll, startTestConsole, type TestConsole } from './support/console.ts'
import { storeFailedRun } from './support/example-runs.ts'

let shown: TestConsole
let person: Person
let runs: string

before(async () => {
  shown = await startTestConsole()
  person = await shown.person({ role: 'viewer' })
  runs = `/orgs/${shown.caller.slug}/runs`
})
after(() => shown?.close())

const linkOf = (page: Page, name: string) => page.getByRole('table', { name: 'runs' }).getByRole('link', { name })

test('the empty list of runs says what to do next', async () => {
  const page = await shown.open(person, runs)
  await page.getByRole('heading', { name: 'No runs' }).waitFor()
  assert.equal(await page.title(), 'Runs · Shiplock')
  await assertAccessible(page)
  await page.context().close()
})

test('a run appears in an open list without a reload', async () => {
  const page = await shown.open(person, runs)
  await page.getByRole('heading', { name: 'No runs' }).waitFor()
  await createRun(shown.api, shown.caller, { pipeline_name: 'nightly', ref: 'refs/heads/main' })
  await page.clock.runFor(1000)
  await linkOf(page, 'nightly').waitFor()
  await page.context().close()
})

test('filters stand in the address, and a list that they empty offers every run again', async () => {
  const page = await shown.open(person, runs)
  await linkOf(page, 'nightly').waitFor()
  await page.getByRole('combobox', { name: 'Repository' }).fill('ac')
  await page.getByRole('option', { name: 'acme/api' }).click()
  await page.waitForURL(/repository=acme%2Fapi/)
  await page.getByLabel('Branch').fill('other')
  await page.clock.runFor(500)
  await page.getByRole('heading', { name: 'No runs match the filters' }).waitFor()
  assert.match(page.url(), /branch=other/)
  await page.getByRole('button', { name: 'Show all runs' }).click()
  await linkOf(page, 'nightly').waitFor()
  assert.ok(!page.url().includes('?'))
  await page.context().close()
})

test('an address with odd values shows the list, and a link with filters shows them', async () => {
  const page = await shown.open(person, `${runs}?status=odd&since=never&attempt=x&repository=%00&branch=%00&limit=-1`)
  await linkOf(page, 'nightly').waitFor()
  await page.goto(`${runs}?status=success&since=2026-03-01&until=2026-03-02`)
  await page.getByRole('heading', { name: 'No runs match the filters' }).waitFor()
  assert.equal(await page.getByLabel('From').inputValue(), '2026-03-01')
  assert.equal(await page.getByRole('combobox', { name: 'Status' }).inputValue(), 'Success')
  await page.context().close()
})

test('keys walk through the list and open a run, and going back shows the list', async () => {
  await createRun(shown.api, shown.caller, { pipeline_name: 'release' })
  const page = await shown.open(person, runs)
  await linkOf(page, 'release').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('o')
  await page.getByRole('heading', { level: 1, name: 'release' }).waitFor()
  await page.goBack()
  await linkOf(page, 'nightly').waitFor()
  await page.context().close()
})

test('a list that cannot be loaded says so, and loads when it is tried again', async () => {
  const page = await shown.open(person, '/account')
  await page.route(/\/runs\?/, (route) => route.fulfill({ status: 403, json: FORBIDDEN }))
  await page.goto(runs)
  await page.getByText('needs the permission “View”').waitFor()
  await page.unroute(/\/runs\?/)
  await page.route(/\/runs\?/, (route) => route.fulfill({ status: 400, json: BROKEN }))
  await page.goto(runs)
  await page.getByRole('alert').getByText('The list is broken.').waitFor()
  await page.unroute(/\/runs\?/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await linkOf(page, 'release').waitFor()
  await page.context().close()
})
const FORBIDDEN = {
  error: { code: 'insufficient_permission', message: 'Forbidden.', details: { requiredPermission: 'view' } },
}
const BROKEN = { error: { code: 'invalid_request', message: 'The list is broken.', details: {} } }

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the list of runs is accessible and fits a narrow screen, ${colorScheme}`, async () => {
    const { id } = await createRun(shown.api, shown.caller, { pipeline_name: 'x'.repeat(200) })
    await patchRun(shown.api, shown.caller, id, { status: 'failure' })
    if (colorScheme === 'light') await storeFailedRun(shown.api, shown.caller)
    const page = await shown.open(person, runs, { colorScheme })
    await linkOf(page, 'Sum up the cart').waitFor()
    await assertAccessible(page)
    await page.setViewportSize({ width: 360, height: 740 })
    await assertNoSidewaysScroll(page)
    await page.context().close()
  })
}
