import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configureGate } from '../../server/test/support/gates.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { apply } from '../../server/test/support/policies.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { BLOCKING, deploy, openDeployment } from './support/deployments.ts'

const LONG = 'a-repository-with-a-name-that-does-not-fit-into-any-column-of-the-board-however-wide'

let shown: TestConsole
let ada: Person
let waiting: string
let blocked: string

before(async () => {
  shown = await startTestConsole()
  const { api, caller } = shown
  for (const environment of ['dev', 'staging', 'production', 'locked'])
    await configureGate(api, caller, { name: environment, environment })
  await apply(api, caller, BLOCKING)
  ada = await shown.person()
  const run = (name: string, commit: string) => ({
    repository: `github.com/acme/${name}`,
    commit_sha: commit.repeat(40),
    ref: 'refs/heads/main',
    actor: 'grace',
    url: 'https://ci.example/runs/1',
  })
  await deploy(shown, 'dev', run('shop', 'b'))
  await deploy(shown, 'staging', run(LONG, 'c'))
  api.clock.advance(60_000)
  waiting = await openDeployment(shown, 'dev', run('shop', 'd'))
  blocked = await openDeployment(shown, 'locked', run('web', 'e'))
  const rejected = await openDeployment(shown, 'production', run('web', 'f'))
  await requestAs(api, ada, 'POST', `/deployments/${rejected}/reject`, { comment: 'Not today.' })
})
after(() => shown?.close())

const path = (end = '') => `/orgs/${shown.caller.slug}/deployments${end}`

test('the board shows what runs where, what waits and what failed, and its filters are in the address', async () => {
  const page = await shown.open(ada, path())
  const board = page.getByRole('table', { name: 'What runs where' })
  await board.waitFor()
  const headers = await board.getByRole('columnheader').allTextContents()
  assert.deepEqual(headers, ['Repository', 'dev', 'staging', 'production', 'locked'])
  const shop = board.getByRole('row', { name: /acme\/shop/ })
  await shop.getByRole('link', { name: 'bbbbbbb' }).waitFor()
  await shop.getByText('Waiting for approval').waitFor()
  const web = board.getByRole('row', { name: /acme\/web/ })
  await web.getByText('Rejected').waitFor()
  await web.getByText('Blocked by policy').waitFor()
  const list = page.getByRole('region', { name: 'Waiting' })
  await list.getByRole('link', { name: 'acme/shop to dev' }).waitFor()
  await page.getByLabel('Repository').fill('WEB')
  await page.waitForURL(/search=WEB/)
  await shop.waitFor({ state: 'detached' })
  await page.goto(path('?show=failed'))
  await web.waitFor()
  await assertCount(shop, 0)
  await page.goto(path('?search=nothing-like-this&show=neither'))
  await page.getByRole('heading', { name: 'No repository matches' }).waitFor()
})

test('the list has all filters; a row opens by its link, and the way back keeps the filters', async () => {
  const page = await shown.open(ada, path())
  await page.getByRole('radiogroup', { name: 'View' }).getByText('List').click()
  await page.getByRole('link', { name: 'acme/shop to dev' }).first().waitFor()
  await page.goto(path('?view=list&status=pending_approval&environment=dev'))
  const link = page.getByRole('link', { name: 'acme/shop to dev' })
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'acme/shop to dev' }).waitFor()
  assert.equal(await page.title(), 'acme/shop to dev · Shiplock')
  await page.goBack()
  await page.waitForURL(/status=pending_approval/)
  await link.waitFor()
})

test('a link that does not name the organization opens the deployment', async () => {
  const page = await shown.open(ada, `/deployments/${waiting}`)
  await page.waitForURL(`**${path(`/${waiting}`)}`)
  await page.getByRole('heading', { level: 1, name: 'acme/shop to dev' }).waitFor()
  await page.goto('/deployments/deployment_of_nobody')
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
})

const PAGES = () => [
  [path(), 'What runs where'],
  [path('?view=list'), 'deployments'],
  [path(`/${waiting}`), 'This deployment waits for an approval'],
  [path(`/${blocked}`), 'Policies block this deployment'],
]
for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page is accessible and fits 360 px, ${colorScheme}`, async () => {
    const page = await shown.open(ada, path(), { colorScheme })
    for (const [address = '', name = ''] of PAGES()) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(address)
      const loaded = page.getByRole('table', { name }).or(page.getByRole('region', { name, exact: true }))
      await loaded.first().waitFor()
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
      await assertAccessible(page)
    }
  })
}

test('nothing yet, a server that fails, and a deployment that does not exist', async () => {
  const other = await shown.api.caller()
  const nobody = await shown.person({ orgId: other.orgId, slug: other.slug })
  const page = await shown.open(nobody, `/orgs/${other.slug}/deployments`)
  await page.getByRole('heading', { name: 'No deployments' }).waitFor()
  await page.getByRole('link', { name: 'Connect a code host' }).waitFor()
  await assertAccessible(page)
  await page.goto(`/orgs/${other.slug}/deployments/${waiting}`)
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await page.route('**/deployments/board*', (route) => route.fulfill({ status: 400, json: FAILURE }))
  await page.goto(`/orgs/${other.slug}/deployments`)
  await page.getByText('The deployments could not be loaded').waitFor()
  await page.unroute('**/deployments/board*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No deployments' }).waitFor()
})

const FAILURE = { error: { code: 'invalid_request', message: 'The request is not valid.', details: {} } }
