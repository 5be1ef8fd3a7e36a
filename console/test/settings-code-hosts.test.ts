import { after, before, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { systemClock } from '../../server/src/platform/clock.ts'
import type { TestApi } from '../../server/test/support/api.ts'
import { type ConnectedServer, startConnectedServer } from '../../server/test/support/connected-server.ts'
import { createPerson } from '../../server/test/support/people.ts'
import { assertAccessible, assertNoSidewaysScroll } from './support/console.ts'
import { type GitHubPages, startGitHubPages } from './support/github-pages.ts'

const NO_APP = { SHIPLOCK_GITHUB_APP_ID: '', SHIPLOCK_GITHUB_PRIVATE_KEY: '', SHIPLOCK_GITHUB_WEBHOOK_SECRET: '' }

let github: GitHubPages
let server: ConnectedServer
let browser: Browser

before(async () => {
  github = await startGitHubPages('acme')
  server = await startConnectedServer({ ...NO_APP, SHIPLOCK_GITHUB_API_URL: github.url })
  github.fake = server.fake
  const executablePath = process.env.SHIPLOCK_TEST_CHROMIUM ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})
after(async () => {
  await browser?.close()
  await server?.close()
  github?.close()
})

/** The settings of an Org admin, in a window of their own. */
async function openCodeHosts(): Promise<Page> {
  const [organization] = await server.sql<{ id: string }[]>`select id from organizations where slug = 'default'`
  const api = { services: { sql: server.sql, clock: systemClock } } as unknown as TestApi
  const { cookie } = await createPerson(api, { orgId: organization?.id as string, slug: 'default' })
  const [name = '', value = ''] = cookie.split('=')
  const context = await browser.newContext({ baseURL: server.url })
  await context.addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  await page.goto('/orgs/default/settings/code-hosts')
  return page
}

test('GitHub is connected in the console: its App is created, installed and connected, and the import is shown', async () => {
  server.fake.addRepository('acme/shop')
  const page = await openCodeHosts()
  await page.getByRole('heading', { name: 'No code host is connected' }).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Connect a code host' }).first().click()
  await page.getByRole('menuitem', { name: 'GitHub' }).click()
  await page.getByRole('dialog').getByText('GitHub may not reach this server').waitFor()
  await page.getByRole('button', { name: 'Continue to GitHub' }).click()
  await page.getByRole('link', { name: 'Create GitHub App' }).click()
  await page.getByRole('link', { name: 'Install' }).click()
  await page.getByRole('button', { name: /^Connect (acme|Installation)/ }).click()
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'acme' }) })
  await card.getByText('Active').waitFor()
  await page.waitForURL(({ search }) => search === '')
  await card.getByText(/^Synchronized/).waitFor()
  await assertAccessible(page)

  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('link', { name: 'installation · created' }).click()
  await page.getByRole('heading', { name: 'Payload' }).waitFor()
  await page.getByText('"login": "acme"').first().waitFor()
  await assertAccessible(page)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('The delivery is applied again.').waitFor()

  await page.goto('/orgs/default/settings/code-hosts')
  await assertNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Disconnect acme' }).click()
  await page.getByRole('dialog').getByText('What was recorded stays').waitFor()
  await page.getByRole('button', { name: 'Disconnect account' }).click()
  await page.getByRole('heading', { name: 'No code host is connected' }).waitFor()
  await page.context().close()
})
