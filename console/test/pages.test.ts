import { mkdir } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { makeDemo } from '../../server/src/demo/make-demo.ts'
import { hostParts } from '../../server/src/host-event-handlers.ts'
import { jobs } from '../../server/src/jobs.ts'
import { type Person, requestAs, signIn } from '../../server/test/support/people.ts'
import {
  assertAccessible,
  assertListsFit,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

/** Every page, with the list whose first object it shows in place of `$id`. */
const PAGES: [name: string, path: string, listOfId?: string][] = [
  ['home', ''],
  ['repository', '/repository?name=northlane%2Fcheckout'],
  ['runs', '/runs'],
  ['run', '/runs/$id', '/runs?status=failure'],
  ['deployments', '/deployments'],
  ['deployments-list', '/deployments?view=list'],
  ['deployment', '/deployments/$id', '/deployments'],
  ['issues', '/security/issues'],
  ['issue', '/security/issues/$id', '/security/issues?severity=critical'],
  ['findings', '/security/findings'],
  ['finding', '/security/findings/$id', '/security/findings'],
  ['alerts', '/security/alerts'],
  ['alert', '/security/alerts/$id', '/security/alerts'],
  ['triage', '/security/triage'],
  ['inventory', '/inventory'],
  ['vulnerability', '/vulnerabilities/CVE-2021-44228'],
  ['digest', `/digests/${'0'.repeat(64)}`],
  ['uploads', '/security/uploads'],
  ['upload', '/security/uploads/$id', '/security/uploads'],
  ['compliance', '/compliance'],
  ['compliance-results', '/compliance/results'],
  ['policies', '/compliance/policies'],
  ['policy', '/compliance/policies/$id', '/policies'],
  ['policy-new', '/compliance/policies/new'],
  ['changes', '/provenance'],
  ['change', '/provenance/changes/$id', '/changes'],
  ['lineage', '/provenance/lineage/$id', '/deployments?status=success'],
  ['signing-keys', '/provenance/keys'],
  ['settings-general', '/settings/general'],
  ['settings-members', '/settings/members'],
  ['settings-roles', '/settings/roles'],
  ['settings-single-sign-on', '/settings/single-sign-on'],
  ['settings-api-keys', '/settings/api-keys'],
  ['settings-oidc-trusts', '/settings/oidc-trusts'],
  ['settings-gates', '/settings/gates'],
  ['settings-gate', '/settings/gates/$id', '/gates'],
  ['settings-environments', '/settings/environments'],
  ['settings-code-hosts', '/settings/code-hosts'],
  ['settings-usage', '/settings/usage'],
  ['settings-audit-log', '/settings/audit-log'],
]
const SCREENSHOTS = new URL('../screenshots/', import.meta.url).pathname
const NARROW = { width: 360, height: 740 }
const WIDE = { width: 1440, height: 900 }
/** 960 px is a screen of 1920 px at 200 %. The last one is the usual one. */
const WIDTHS = [800, 900, 960, 1024, 1200, WIDE.width]

let shown: TestConsole
let person: Person

before(async () => {
  shown = await startTestConsole()
  const { userId } = await shown.person()
  await makeDemo(shown.api.services, { jobs, parts: hostParts }, () => {})
  // The demo has made every Org admin a member.
  const cookie = await signIn(shown.api, userId)
  person = { userId, email: '', name: '', orgId: '', org: '/app/api/orgs/demo', cookie }
  await mkdir(SCREENSHOTS, { recursive: true })
})
after(() => shown?.close())

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page with example data passes axe and fits 360 px, ${colorScheme}`, async (t) => {
    const page = await shown.open(person, '/account', { colorScheme })
    for (const [name, path, listOfId] of PAGES) {
      await t.test(name, async () => {
        await openPage(page, await addressOf(path, listOfId))
        await assertAccessible(page)
        await page.screenshot({ path: `${SCREENSHOTS}${name}-${colorScheme}.png` })
        await page.setViewportSize(NARROW)
        await assertNoSidewaysScroll(page)
        if (colorScheme === 'light') await page.screenshot({ path: `${SCREENSHOTS}${name}-360.png` })
        await page.setViewportSize(WIDE)
        const hasList = (await page.locator('[role=table]').count()) > 0
        for (const width of hasList && colorScheme === 'light' ? WIDTHS : []) {
          await page.setViewportSize({ ...WIDE, width })
          await assertListsFit(page)
        }
      })
    }
    await page.context().close()
  })
}

async function addressOf(path: string, listOfId: string | undefined): Promise<string> {
  if (listOfId === undefined) return `/orgs/demo${path}`
  const { body } = await requestAs(shown.api, person, 'GET', listOfId)
  const [first] = body.data
  return `/orgs/demo${path.replace('$id', first.id)}`
}

/** Opens a page, and waits until nothing on it is loading. */
async function openPage(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}
