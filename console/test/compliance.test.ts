import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCompliance } from './support/compliance.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

let shown: TestConsole
let tested: string
let start: string

before(async () => {
  shown = await startTestConsole()
  ;({ tested } = await seedCompliance(shown))
  start = `/orgs/${shown.caller.slug}/compliance`
})
after(() => shown?.close())

/** Each page with a text that shows when it is complete. */
const PAGES: [name: string, path: () => string, sign: string][] = [
  ['results', () => '', 'github.com/acme/site'],
  ['a result', () => `/results?policy=${tested}&repository=github.com%2Facme%2Fapi`, 'Open policy'],
  ['policies', () => '/policies', 'scan-fresh'],
  ['a policy', () => `/policies/${tested}`, 'The file that is in force.'],
  ['results of a policy', () => `/policies/${tested}?tab=results`, 'github.com/acme/web'],
  ['versions', () => `/policies/${tested}?tab=versions`, 'Version 1 (current)'],
  ['editor', () => `/policies/${tested}?tab=edit`, 'No problems'],
  ['templates', () => '/policies/new', 'Scan fresh'],
]

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page is accessible, and fits on a narrow screen, ${colorScheme}`, async (t) => {
    const page = await shown.open(await shown.person(), start, { colorScheme })
    for (const [name, path, sign] of PAGES) {
      t.diagnostic(name)
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(start + path())
      await page.getByText(sign).first().waitFor()
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
      await assertCount(page.locator('h1'), 1)
    }
    await page.context().close()
  })
}

test('the matrix shows each result as a word, and its filters are in the address', async () => {
  const page = await shown.open(await shown.person(), start)
  const row = page.getByRole('row').filter({ hasText: 'github.com/acme/api' })
  await row.getByText('Warning').waitFor()
  await row.getByText('Failing').waitFor()
  await page.getByRole('row').filter({ hasText: 'acme/site' }).getByText('Not covered').waitFor()

  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Failing', exact: true }).click()
  await page.getByText('github.com/acme/web').waitFor({ state: 'detached' })
  assert.match(page.url(), /status=failing/)
  await page.reload()
  assert.equal(await page.getByRole('combobox', { name: 'Status' }).inputValue(), 'Failing')

  await page.getByRole('link', { name: 'tests-passed on github.com/acme/api: failing' }).click()
  await page.getByRole('heading', { level: 1, name: 'tests-passed on github.com/acme/api' }).waitFor()
  await page.getByText('run.status = "failure"').waitFor()
  await page.goBack()
  await page.getByRole('link', { name: /github.com\/acme\/site: failing/ }).waitFor()
  await page.context().close()
})

test('without results the page says what to do next, and a failed request offers to try again', async () => {
  const page = await shown.open(await shown.person(), start)
  await page.route('**/compliance/results?*', (route) => route.abort())
  await page.goto(`${start}?repository=acme`)
  await page.getByText('The compliance results could not be loaded').waitFor()
  await page.unroute('**/compliance/results?*')
  await page.route('**/compliance/results?*', async (route) => {
    const body = (await (await route.fetch()).json()) as { data: unknown[] }
    await route.fulfill({ json: { ...body, data: [] } })
  })
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No results match the filters' }).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await page.getByRole('heading', { name: 'No compliance results' }).waitFor()
  await page.context().close()
})

test('somebody without the permission to view learns which one is missing', async () => {
  const person = await shown.person({ permissions: ['manage_gates'] })
  const page = await shown.open(person, start)
  await page.getByText('“View”').waitFor()
  await page.context().close()
})
