import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Person } from '../../server/test/support/people.ts'
import { assertAccessible, startTestConsole, type TestConsole } from './support/console.ts'

const SCRIPTS = '**/assets/*.js'

let shown: TestConsole
let person: Person
let home: string

before(async () => {
  shown = await startTestConsole()
  person = await shown.person()
  home = `/orgs/${shown.caller.slug}`
})
after(() => shown?.close())

async function openHome(): Promise<Page> {
  const page = await shown.open(person, home)
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  return page
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`a page whose script does not arrive says so inside the frame, and comes when the server is back, ${colorScheme}`, async () => {
    const page = await openHome()
    await page.emulateMedia({ colorScheme })
    await page.context().setOffline(true)
    await page
      .getByRole('link', { name: 'Policies' })
      .or(page.getByRole('link', { name: 'Compliance' }))
      .first()
      .click()
    const problem = page.getByRole('alert').filter({ hasText: 'This page could not be loaded' })
    await problem.getByText('The server cannot be reached.').waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs', exact: true }).waitFor()
    await assertAccessible(page)
    await problem.getByRole('button', { name: 'Try again' }).click()
    await problem.getByText('The server cannot be reached.').waitFor()

    await page.context().setOffline(false)
    await problem.getByText('The server can be reached again.').waitFor()
    await problem.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Compliance', level: 1 }).waitFor()
    await page.context().close()
  })
}

test('a tab that is older than the server says that Shiplock was updated', async () => {
  const page = await openHome()
  // After an upgrade the old scripts are gone, and the document names others.
  await page.route(SCRIPTS, (route) => route.fulfill({ status: 404, json: { error: {} } }))
  await page.route(`${shown.url}/`, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(/\/assets\/[^"]+\.js/, '/assets/console-of-tomorrow.js')
    await route.fulfill({ response, body })
  })
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByText('Shiplock was updated. Reload the page to use the new version.').waitFor()
  await page.unroute(SCRIPTS)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.context().close()
})

test('a dialog whose script does not arrive leaves the page as it is', async () => {
  const page = await openHome()
  await page.context().setOffline(true)
  await page.keyboard.press('Control+k')
  const notice = page.getByRole('alert').filter({ hasText: 'The search could not be loaded' })
  await notice.getByText('The server cannot be reached.').waitFor()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await assertAccessible(page)
  await notice.getByRole('button', { name: 'Close notification' }).click()
  await notice.waitFor({ state: 'detached' })
  await page.context().close()
})

test('lost live updates are shown, and the notice goes when they are back', async () => {
  const page = await openHome()
  const notice = page.getByText('Live updates are interrupted. What you see may be out of date.')
  await page.route('**/events', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
  await page.reload()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.clock.fastForward(6000)
  await notice.waitFor()
  await assertAccessible(page)
  await page.unroute('**/events')
  // A browser does not connect again by itself after an error response.
  await page.clock.fastForward(6000)
  await notice.waitFor({ state: 'detached' })
  await page.context().close()
})

test('a window whose first script does not arrive shows words instead of nothing', async () => {
  const page = await shown.open(null, '/sign-in')
  await page.route(SCRIPTS, (route) => route.abort())
  await page.reload()
  await page.getByText('Shiplock is loading. If nothing else appears, the server cannot be reached').waitFor()
  // They appear after a while, so that they do not flash where the script is only slow.
  await page.evaluate('for (const each of document.getAnimations()) each.finish()')
  assert.equal(await page.evaluate('getComputedStyle(document.getElementById("waiting")).opacity'), '1')
  await page.unroute(SCRIPTS)
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Shiplock is loading.').waitFor({ state: 'detached' })
  await page.context().close()
})
