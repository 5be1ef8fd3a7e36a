import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRun, patchRun } from '../../server/test/support/ci-runs.ts'
import { configureGate, openGate } from '../../server/test/support/gates.ts'
import type { Person } from '../../server/test/support/people.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { RUN_ID, storeFailedRun } from './support/example-runs.ts'

let shown: TestConsole
let person: Person
let run: string

before(async () => {
  shown = await startTestConsole()
  person = await shown.person({ role: 'viewer' })
  run = `/orgs/${shown.caller.slug}/runs/${RUN_ID}`
  await storeFailedRun(shown.api, shown.caller)
})
after(() => shown?.close())

test('why a run failed is on the page without a click', async () => {
  const page = await shown.open(person, run)
  await page.getByRole('heading', { level: 1, name: 'Sum up the cart' }).waitFor()
  await page.getByRole('heading', { name: 'Tests failed' }).waitFor()
  await page.getByText('3 times in a row').waitFor()
  await page.getByText('expect(total).toBe(3)').waitFor()
  await page.getByText('sums up two lines').waitFor()
  await page.getByText('81.3%').waitFor()
  await page.getByText('1,234 components').waitFor()
  await page.getByRole('cell', { name: 'cart' }).waitFor()
  assert.equal(await page.title(), 'Sum up the cart · Shiplock')
  await page.context().close()
})

test('the graph of jobs shows each status in words, and leads to the report', async () => {
  const page = await shown.open(person, run)
  const jobs = page.getByRole('group', { name: 'Jobs' })
  await jobs.getByRole('link', { name: /^test Failed · 4 min · 2 jobs/ }).click()
  await page.waitForURL(/#report-/)
  assert.match(await jobs.innerText(), /deploy\s+Skipped/)
  assert.match((await jobs.textContent()) ?? '', /report.*Not reported, after test/)
  await page.context().close()
})

test('attempts are switched in the address, each with its own reports and artifacts', async () => {
  const page = await shown.open(person, run)
  await page.getByText('dist/shop.js').first().waitFor()
  await page.getByRole('combobox', { name: 'Attempt' }).click()
  await page.getByRole('option', { name: /Attempt 1/ }).click()
  await page.waitForURL(/attempt=1/)
  await page.getByText('Of the first attempt.').waitFor()
  await assertCount(page.getByText('dist/shop.js'), 0)
  await assertCount(page.getByText('expect(total).toBe(3)'), 0)
  await page.goBack()
  await page.getByText('dist/shop.js').first().waitFor()
  await page.context().close()
})

test('an artifact is downloaded', async () => {
  const page = await shown.open(person, run)
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download dist/shop.js' }).click()
  assert.equal((await download).suggestedFilename(), 'shop.js')
  await page.context().close()
})

test('the address that a CI job prints opens the run and its report', async () => {
  const page = await shown.open(person, `/runs/${RUN_ID}`)
  await page.waitForURL(`**${run}`)
  const report = await page.locator('article').last().getAttribute('id')
  await page.goto(`/runs/${RUN_ID}/reports/${report?.replace('report-', '')}`)
  await page.getByText('No problems.').waitFor()
  await page.goto('/runs/run_nobody')
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await page.context().close()
})

test('a run that ends while it is shown, and its deployment', async () => {
  const { api, caller } = shown
  await configureGate(api, caller)
  const { id } = await createRun(api, caller, { pipeline_name: 'ship' })
  await openGate(api, caller, { run_id: id })
  const page = await shown.open(person, `/orgs/${caller.slug}/runs/${id}`)
  await page.getByRole('heading', { level: 1, name: 'ship In progress' }).waitFor()
  await page.getByRole('link', { name: 'production', exact: true }).waitFor()
  await patchRun(api, caller, id, { status: 'success' })
  await page.clock.runFor(1000)
  await page.getByRole('heading', { level: 1, name: 'ship Success' }).waitFor()
  await page.context().close()
})

test('a run that does not exist, and one that cannot be loaded', async () => {
  const page = await shown.open(person, `/orgs/${shown.caller.slug}/runs/run_nobody`)
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await page.route(/\/reports\?/, (route) => route.fulfill({ status: 400, json: BROKEN }))
  await page.goto(run)
  await page.getByText('The reports could not be loaded').waitFor()
  await page.unroute(/\/reports\?/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('sums up two lines').waitFor()
  await page.context().close()
})
const BROKEN = { error: { code: 'invalid_request', message: 'Broken.', details: {} } }

for (const colorScheme of ['light', 'dark'] as const) {
  test(`a run is accessible and fits a narrow screen, ${colorScheme}`, async () => {
    const page = await shown.open(person, run, { colorScheme })
    await page.getByRole('cell', { name: 'cart' }).waitFor()
    await page.getByRole('button', { name: 'Check data' }).click()
    await page.getByText('left-pad').waitFor()
    await assertAccessible(page)
    await page.setViewportSize({ width: 360, height: 740 })
    await page.getByText('after build, lint').waitFor()
    await assertAccessible(page)
    await assertNoSidewaysScroll(page)
    await page.context().close()
  })
}
