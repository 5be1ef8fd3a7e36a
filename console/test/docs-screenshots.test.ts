import { mkdir } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { makeDemo } from '../../server/src/demo/make-demo.ts'
import { hostParts } from '../../server/src/host-event-handlers.ts'
import { jobs } from '../../server/src/jobs.ts'
import { type Person, requestAs, signIn } from '../../server/test/support/people.ts'
import { startTestConsole, type TestConsole } from './support/console.ts'

// Makes the pictures of the documentation from the example data. It checks nothing, so it runs only
// when somebody asks for new pictures (SHIPLOCK_DOCS_SCREENSHOTS=1).
const FOLDER = new URL('../../docs/screenshots/', import.meta.url).pathname
const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 360, height: 740 }

let shown: TestConsole
let person: Person

before(async () => {
  shown = await startTestConsole()
  const { userId } = await shown.person({ name: 'Ingrid Solberg' })
  await makeDemo(shown.api.services, { jobs, parts: hostParts }, () => {})
  const cookie = await signIn(shown.api, userId)
  person = { userId, email: '', name: '', orgId: '', org: '/app/api/orgs/demo', cookie }
  await mkdir(FOLDER, { recursive: true })
})
after(() => shown?.close())

test('pictures of the documentation, light', async () => {
  const page = await shown.open(person, '/account', WIDE)
  await take(page, 'home', '')
  await take(page, 'run', `/runs/${await firstId('/runs?status=failure')}`)
  await take(page, 'deployments', '/deployments')
  await openPage(page, `/deployments/${await blockedDeployment()}`)
  await page.mouse.wheel(0, 330)
  await page.getByRole('heading', { name: 'Policies', exact: true }).waitFor()
  await picture(page, 'deployment')
  await take(page, 'issues', '/security/issues')
  await take(page, 'issue', `/security/issues/${await largestIssue()}`)
  await take(page, 'lineage', `/provenance/lineage/${await firstId('/deployments?status=success')}`)
  await openPage(page, `/compliance/policies/${await policyId('no-open-critical')}?tab=edit`)
  await page.getByRole('button', { name: 'Start dry run' }).click()
  await page.getByRole('list', { name: 'Results of the dry run' }).waitFor()
  await page.getByRole('heading', { name: 'Dry run' }).scrollIntoViewIfNeeded()
  await page.mouse.wheel(0, 600)
  await picture(page, 'policy')
  await page.setViewportSize(NARROW)
  await take(page, 'home-phone', '')
  await take(page, 'deployment-phone', `/deployments/${await firstId('/deployments')}`)
  await page.context().close()
})

test('pictures of the documentation, dark', async () => {
  const page = await shown.open(person, '/account', { ...WIDE, colorScheme: 'dark' })
  await take(page, 'home-dark', '')
  await page.context().close()
})

async function take(page: Page, name: string, path: string): Promise<void> {
  await openPage(page, path)
  await picture(page, name)
}

async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(`/orgs/demo${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${FOLDER}${name}.png` })
}

async function list<Row>(path: string): Promise<Row[]> {
  const { body } = await requestAs(shown.api, person, 'GET', path)
  return body.data
}

async function firstId(path: string): Promise<string> {
  const [first] = await list<{ id: string }>(path)
  return (first as { id: string }).id
}

async function blockedDeployment(): Promise<string> {
  const all = await list<{ id: string; repository_full_name: string; environment: string }>('/deployments')
  const found = all.find(
    (each) => each.repository_full_name.endsWith('legacy-billing') && each.environment === 'production',
  )
  return (found as { id: string }).id
}

async function largestIssue(): Promise<string> {
  const all = await list<{ id: string; member_count: number }>('/security/issues?kind=dependency&limit=200')
  const [largest] = all.toSorted((a, b) => b.member_count - a.member_count)
  return (largest as { id: string }).id
}

async function policyId(name: string): Promise<string> {
  const all = await list<{ id: string; name: string }>('/policies')
  return (all.find((each) => each.name === name) as { id: string }).id
}
