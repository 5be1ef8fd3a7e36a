import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createRun, patchRun } from '../../server/test/support/ci-runs.ts'
import { configureGate, openGate } from '../../server/test/support/gates.ts'
import { bom } from '../../server/test/support/issues.ts'
import type { Person } from '../../server/test/support/people.ts'
import { apply } from '../../server/test/support/policies.ts'
import { uploadReport } from '../../server/test/support/reports.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { BLOCKING } from './support/deployments.ts'
import { importThreats, LOG4SHELL } from './support/security.ts'
import { storeMuch } from './support/stored-organization.ts'

let shown: TestConsole
let admin: Person
let home: string

before(async () => {
  shown = await startTestConsole()
  home = `/orgs/${shown.caller.slug}`
  await storeMuch(shown, { findings: 3000, runs: 3000 })
  await configureGate(shown.api, shown.caller, { environment: 'production' })
  const run = await createRun(shown.api, shown.caller, { ref: 'main' })
  await openGate(shown.api, shown.caller, { run_id: run.id })
  const failed = await createRun(shown.api, shown.caller, {
    external_run_id: 'failed',
    ref: 'main',
    pipeline_name: 'nightly',
  })
  await patchRun(shown.api, shown.caller, failed.id, { status: 'failure' })
  admin = await shown.person()
})
after(() => shown?.close())

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

for (const colorScheme of ['light', 'dark'] as const)
  test(`Home shows what waits, what broke and what is urgent, with charts, ${colorScheme}`, async () => {
    const page = await shown.open(admin, home, { colorScheme })
    await panel(page, 'Waiting for you')
      .getByRole('link', { name: /production/ })
      .first()
      .waitFor()
    await panel(page, 'Broken').getByText('nightly').first().waitFor()
    await panel(page, 'Critical and exploited').getByText('Critical').first().waitFor()
    await page.getByRole('slider', { name: 'Open issues: day', exact: true }).waitFor()
    assert.equal(await page.title(), 'Home · Shiplock')
    await assertAccessible(page)
    await page.setViewportSize({ width: 360, height: 740 })
    await assertNoSidewaysScroll(page)
    await page.context().close()
  })

test('Home names the gates that nothing can approve as it was meant, to those who can change them', async () => {
  const [manager, viewer] = [await shown.person({ role: 'release_manager' }), await shown.person({ role: 'viewer' })]
  const page = await shown.open(manager, home)
  await panel(page, 'Waiting for you').waitFor()
  await assertCount(page.getByText('Gates to check'), 0)
  await configureGate(shown.api, shown.caller, { name: 'Canary', environment: 'canary', policies: ['gone'] })
  await page.reload()
  const notice = page.getByRole('alert').filter({ hasText: 'Gates to check' })
  await notice.getByText('waits for people, because the policy gone does not exist').waitFor()
  await notice.getByRole('link', { name: 'Canary' }).waitFor()
  await assertAccessible(page)
  const other = await shown.open(viewer, home)
  await panel(other, 'Waiting for approval').waitFor()
  await assertCount(other.getByText('Gates to check'), 0)
})

test('what was never imported is unknown, and says so where it decides', async () => {
  const log4j = 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1'
  await uploadReport(shown.api, shown.caller, bom('Grype', log4j, [{ id: LOG4SHELL, severity: 'high' }]))
  const page = await shown.open(admin, home)
  const notice = page.getByRole('alert').filter({ hasText: 'Never imported: EPSS, KEV, OSV' })
  await notice.getByText('shiplock-server intel import --kev FILE').waitFor()
  await assertAccessible(page)
  await page.goto(`${home}/security/issues?kev=yes`)
  await page.getByRole('alert').filter({ hasText: 'Never imported: KEV' }).waitFor()
  await page.goto(`${home}/security/issues?status=open&severity=high`)
  await page
    .getByRole('link', { name: /CVE-2021-44228|log4j/i })
    .first()
    .click()
  await page.getByText('Not known: KEV was never imported').waitFor()
  await page.getByText('Not known: EPSS was never imported').waitFor()
  await page.getByText('The reports name no fixed version').waitFor()
  for (const said of ['Not in CISA', 'One score so far', 'No fix is known']) await assertCount(page.getByText(said), 0)
  const viewer = await shown.person({ role: 'viewer' })
  const theirs = await shown.open(viewer, home)
  await panel(theirs, 'Critical and exploited').waitFor()
  await assertCount(theirs.getByText('Never imported'), 0)
  await importThreats(shown.api)
  await page.reload()
  await page.getByText('since 2021-12-10').waitFor()
  await page.goto(home)
  await page.getByRole('alert').filter({ hasText: 'Never imported: OSV' }).waitFor()
})

test('a pipeline that is green again, or failed more than once, is not listed among what broke', async () => {
  const caller = await shown.api.caller()
  const { orgId, slug } = caller
  const run = async (pipeline_name: string, status: string) => {
    shown.api.clock.advance(1000)
    const { id } = await createRun(shown.api, caller, { ref: 'main', pipeline_name })
    await patchRun(shown.api, caller, id, { status })
  }
  for (const status of ['failure', 'success']) await run('mended', status)
  for (const status of ['failure', 'failure']) await run('still red', status)
  await run('red again', 'success')
  await run('red again', 'failure')
  const page = await shown.open(await shown.person({ orgId, slug }), `/orgs/${slug}`)
  await panel(page, 'Broken').getByText('red again').first().waitFor()
  await assertCount(panel(page, 'Broken').getByRole('listitem').filter({ hasText: 'still red' }), 1)
  await assertCount(panel(page, 'Broken').getByText('mended'), 0)
})

test('what is critical or exploited is listed by risk, the exploited first', async () => {
  const caller = await shown.api.caller()
  const { orgId, slug } = caller
  const log4j = 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1'
  await uploadReport(shown.api, caller, bom('Grype', log4j, [{ id: LOG4SHELL, severity: 'high' }]))
  for (let nth = 0; nth < 7; nth += 1) {
    shown.api.clock.advance(60_000)
    const issue = { id: `CVE-2024-100${nth}`, severity: 'critical' as const }
    const document = bom('Grype', `pkg:npm/part-${nth}@1.0.0`, [issue])
    await uploadReport(shown.api, caller, document, { category: `part-${nth}` })
  }
  await importThreats(shown.api)
  const page = await shown.open(await shown.person({ orgId, slug }), `/orgs/${slug}`)
  const items = panel(page, 'Critical and exploited').getByRole('listitem')
  await items.first().getByText('Exploited').waitFor()
  await assertCount(items, 5)
  await panel(page, 'Critical and exploited').getByText('8', { exact: true }).waitFor()
})

test('the period is in the address, and survives a reload', async () => {
  const page = await shown.open(admin, home)
  await page.getByText('90 days', { exact: true }).click()
  await page.waitForURL(/days=90/)
  await page.reload()
  assert.ok(await page.getByRole('radio', { name: '90 days' }).isChecked())
  await page.goto(`${home}?days=12`)
  assert.ok(await page.getByRole('radio', { name: '30 days' }).isChecked())
  await page.context().close()
})

test('the values of a chart are read with the arrow keys and as a table', async () => {
  const page = await shown.open(admin, `${home}?days=7`)
  const chart = page.getByRole('figure', { name: 'Runs that succeed' })
  const cursor = chart.getByRole('slider')
  await cursor.press('End')
  const last = await cursor.getAttribute('aria-valuetext')
  assert.match(last ?? '', /Success \d+, Failed \d+, Other \d+/)
  await cursor.press('ArrowLeft')
  assert.notEqual(await cursor.getAttribute('aria-valuetext'), last)
  assert.equal(await cursor.getAttribute('aria-valuenow'), '5')
  await chart.getByRole('status').getByText('Success').waitFor()
  await chart.getByRole('button', { name: 'Show as table' }).click()
  await assertCount(chart.getByRole('row'), 8)
  await assertAccessible(page)
  await page.context().close()
})

test('a panel that cannot be loaded says so, and can be loaded again', async () => {
  const page = await shown.open(admin, '/account')
  await page.route('**/charts/delivery*', (route) => route.abort())
  await page.goto(home)
  const card = page.getByRole('region', { name: 'Time to restore' })
  await card.getByText('could not be loaded').waitFor()
  await page.unroute('**/charts/delivery*')
  await card.getByRole('button', { name: 'Try again' }).click()
  await card.getByRole('figure').waitFor()
  await page.context().close()
})

test('a new organization gets first steps, which tick themselves', async () => {
  const caller = await shown.api.caller()
  const person = await shown.person({ orgId: caller.orgId, slug: caller.slug })
  const page = await shown.open(person, `/orgs/${caller.slug}`)
  const steps = panel(page, 'First steps')
  await steps.getByRole('link', { name: 'Upload a report' }).waitFor()
  await steps.getByRole('link', { name: 'Connect a code host' }).waitFor()
  await steps.getByRole('link', { name: 'Choose' }).waitFor()
  await assertAccessible(page)
  await uploadReport(shown.api, caller, sarif([sarifResult('rule')]))
  await page.reload()
  await steps.getByRole('listitem').filter({ hasText: 'Upload a security report' }).getByLabel('Done').waitFor()
  await panel(page, 'Broken').getByText('Nothing ran yet.').waitFor()
  await createRun(shown.api, caller)
  await page.reload()
  await panel(page, 'Waiting for you').waitFor()
  await steps.getByRole('link', { name: 'Create a gate' }).click()
  await page.waitForURL(/settings\/gates\/new$/)
  await configureGate(shown.api, caller, { environment: 'production' })
  await page.goto(`/orgs/${caller.slug}`)
  await panel(page, 'Waiting for you').waitFor()
  await assertCount(steps, 0)
  await page.context().close()
})

test('a deployment that a policy blocks says so, and waits for who can override', async () => {
  const caller = await shown.api.caller()
  const { orgId, slug } = caller
  await apply(shown.api, caller, BLOCKING)
  await configureGate(shown.api, caller, { environment: 'locked' })
  const run = await createRun(shown.api, caller, { ref: 'main' })
  await openGate(shown.api, caller, { run_id: run.id, environment: 'locked' })
  const viewer = await shown.open(await shown.person({ orgId, slug, role: 'viewer' }), `/orgs/${slug}`)
  await panel(viewer, 'Waiting for approval')
    .getByText('Blocked by Tests have passed. Waits for somebody with “Override compliance”')
    .waitFor()
  const security = await shown.open(await shown.person({ orgId, slug, role: 'security' }), `/orgs/${slug}`)
  await panel(security, 'Waiting for you').getByText('Blocked by Tests have passed. Asked').waitFor()
  await panel(security, 'Waiting for you')
    .getByRole('link', { name: /Review/ })
    .waitFor()
})
