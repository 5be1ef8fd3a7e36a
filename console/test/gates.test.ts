import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configureGate, openGate } from '../../server/test/support/gates.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

const HOUR_MS = 3_600_000

let shown: TestConsole
let manager: Person
let gates: string
let production: string

before(async () => {
  shown = await startTestConsole()
  manager = await shown.person({ role: 'release_manager', name: 'Barbara Liskov' })
  gates = `/orgs/${shown.caller.slug}/settings/gates`
  production = (await configureGate(shown.api, shown.caller, { name: 'Production' })).id
  await openGate(shown.api, shown.caller)
})
after(() => shown?.close())

test('a gate is created with a preview of what it covers, changed, and deleted', async () => {
  const page = await shown.open(manager, gates)
  await page.getByRole('link', { name: 'Production', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Create gate' }).click()
  // The list has a field with a name like those of the form.
  await page.getByRole('heading', { level: 1, name: 'Create gate' }).waitFor()
  await page.getByLabel('Name').fill('Europe')
  await page.getByLabel('Environment').fill('stag*')
  await page.getByText('0 of the last 1 deployments.').waitFor()
  await page.getByLabel('Environment').fill('prod*')
  await page.getByText('1 of the last 1 deployments.').waitFor()
  await page.getByRole('list', { name: 'Environments' }).getByText('production').waitFor()
  await page.getByRole('button', { name: 'Create gate' }).click()
  await page.getByRole('heading', { level: 1, name: 'Europe' }).waitFor()

  await page.getByLabel('Required approvals').fill('2')
  await page.getByLabel('Reason').fill('Two people for Europe.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Europe was saved').waitFor()
  await page.getByRole('tab', { name: 'Versions' }).click()
  const newest = page.getByRole('region', { name: 'Version 2' })
  await newest.getByText('Approvals: 1 approval → 2 approvals by different people').waitFor()
  await newest.getByText('by Barbara Liskov').waitFor()

  await page.getByRole('button', { name: 'Delete gate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Europe was deleted').waitFor()
  await page.getByRole('link', { name: 'Production', exact: true }).waitFor()
  await assertCount(page.getByRole('link', { name: 'Europe', exact: true }), 0)
  await page.context().close()
})

test('a filter that was being typed does not lead back from the page that is opened next', async () => {
  const page = await shown.open(manager, gates)
  let load = () => {}
  const held = new Promise<void>((resolve) => {
    load = resolve
  })
  await page.route('**/assets/*.js', async (route) => {
    await held
    await route.continue()
  })
  await page.getByRole('link', { name: 'Production', exact: true }).waitFor()
  // The pause after the last letter ends when the next page is on its way.
  await page.clock.pauseAt(shown.api.clock.now().getTime() + HOUR_MS)
  await page.getByLabel('Name or environment').fill('prod')
  await page.getByRole('link', { name: 'Create gate' }).click()
  await page.waitForURL(`**${gates}/new`, { waitUntil: 'commit' })
  await page.clock.runFor(1000)
  await page.clock.resume()
  load()
  await page.getByRole('heading', { level: 1, name: 'Create gate' }).waitFor()
  assert.equal(new URL(page.url()).pathname, `${gates}/new`)
  await page.context().close()
})

test('the button of the form stays where it is while the preview changes on a narrow screen', async () => {
  const page = await shown.open(manager, `${gates}/new`, { width: 360, height: 740 })
  await page.getByText('0 of the last 1 deployments.').waitFor()
  const button = page.getByRole('button', { name: 'Create gate' })
  const before = await button.boundingBox()
  await page.getByLabel('Environment').fill('prod*')
  await page.getByRole('list', { name: 'Environments' }).getByText('production').waitFor()
  assert.deepEqual(await button.boundingBox(), before)
  await page.context().close()
})

test('a mistake is shown at its field', async () => {
  const page = await shown.open(manager, `${gates}/new`)
  await page.getByLabel('Name').fill('Production')
  await page.getByLabel('Environment').fill('prod*')
  await page.getByRole('button', { name: 'Create gate' }).click()
  await page.getByText('A gate named "Production" already exists.').waitFor()
  await page.getByLabel('Name').fill('Other')
  await page.getByRole('textbox', { name: 'Environment' }).fill('prod{')
  await page.getByRole('button', { name: 'Create gate' }).click()
  await page.getByText('braces').waitFor()
  await page.context().close()
})

test('who has changed the gate meanwhile is named, and nothing is overwritten', async () => {
  const page = await shown.open(manager, `${gates}/${production}`)
  await page.getByLabel('Branch').fill('main')
  const other = await shown.person({ name: 'Grace Hopper' })
  // Live updates would tell the page first.
  await page.route('**/gates/*', (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()))
  assert.equal(
    (await requestAs(shown.api, other, 'PATCH', `/gates/${production}`, { required_approvals: 3 })).status,
    200,
  )
  await page.getByRole('button', { name: 'Save' }).click()
  await page.unroute('**/gates/*')
  await page.getByText(/Grace Hopper.* stored version 2/).waitFor()
  await page.getByRole('button', { name: 'Keep my settings, then save again' }).click()
  const { data } = (await requestAs(shown.api, manager, 'GET', `/gates/${production}`)).body
  assert.deepEqual([data.branch, data.required_approvals], [null, 3])
  await page.context().close()
})

test('without the permission the settings of a gate can be read', async () => {
  const page = await shown.open(await shown.person({ role: 'viewer' }), `${gates}/${production}`)
  await page.getByRole('table', { name: 'Settings of the gate' }).getByText('Every repository').waitFor()
  await assertCount(page.getByRole('button', { name: 'Save' }), 0)
  await page.goto(`${gates}/new`)
  await page.getByText('“Manage gates”').waitFor()
  await page.context().close()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the pages of gates are accessible, and fit on a narrow screen, ${colorScheme}`, async () => {
    const page = await shown.open(manager, gates, { colorScheme })
    for (const [path, sign] of [
      ['', 'Covers'],
      ['/new', 'Matches'],
      [`/${production}`, 'Matches'],
      [`/${production}?tab=versions`, 'Version 1'],
    ] as const) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(gates + path)
      await page.getByText(sign).first().waitFor()
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
    }
    await page.context().close()
  })
}
