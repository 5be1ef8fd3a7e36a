import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { configureGate } from '../../server/test/support/gates.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { TESTED } from './support/compliance.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

let shown: TestConsole
let admin: Person
let log: string

before(async () => {
  shown = await startTestConsole()
  admin = await shown.person({ name: 'Barbara Liskov' })
  log = `/orgs/${shown.caller.slug}/settings/audit-log`
  const { id } = await configureGate(shown.api, shown.caller)
  await requestAs(shown.api, admin, 'PATCH', `/gates/${id}`, { required_approvals: 2, reason: 'Two people.' })
  await requestAs(shown.api, admin, 'POST', '/policies', { file: TESTED })
})
after(() => shown?.close())

test('each change says who made it, why, and what; filters are in the address', async () => {
  const page = await shown.open(admin, log)
  const changed = page.getByRole('row').filter({ hasText: 'Gate changed' })
  await changed.getByText('“Two people.”').waitFor()
  await changed.getByText('Details').click()
  await changed.getByText('Before: required approvals').waitFor()
  await page.getByRole('link', { name: 'Policy tests-passed' }).waitFor()
  await page.getByText('Gate created').waitFor()

  await changed.getByRole('button', { name: 'Barbara Liskov' }).click()
  await page.getByText('Gate created').waitFor({ state: 'detached' })
  assert.match(page.url(), new RegExp(`principal_id=${admin.userId}`))
  await page.getByRole('combobox', { name: 'Action' }).fill('Policy app')
  await page.getByRole('option', { name: 'Policy applied' }).click()
  await page.getByText('Gate changed').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Policy applied').last().waitFor()
  await assertCount(page.getByRole('row'), 2)

  await page.goto(`${log}?since=2020-02-30&object_type=planet&since=x`)
  await page.getByText('Gate created').waitFor()
  await page.goto(`${log}?until=2026-03-01`)
  await page.getByRole('heading', { name: 'No entries' }).waitFor()
  await page.context().close()
})

test('the filtered entries are exported', async () => {
  const page = await shown.open(admin, `${log}?action=policy.apply`)
  await page.getByRole('button', { name: 'Export' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Export as NDJSON' }).click(),
  ])
  assert.match(download.suggestedFilename(), /^audit-log-.*\.ndjson$/)
  const [chunks, stream] = [[] as Buffer[], await download.createReadStream()]
  for await (const chunk of stream) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().trim().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).action),
    ['policy.apply'],
  )
  await page.context().close()
})

test('somebody without the permission learns which one is missing', async () => {
  const page = await shown.open(await shown.person({ role: 'viewer' }), log)
  await page.getByText('“Read the audit log”').waitFor()
  await page.context().close()
})

test('the usage shows what is used of each limit, and when it starts again', async () => {
  const caller = await shown.api.caller({ plan: 'team' })
  const member = await shown.person({ ...caller, role: 'viewer' })
  await shown.api.services.sql`
    insert into monthly_usage (org_id, metric, month, used)
    values (${caller.orgId}, 'ci_runs', '2026-03-01', 9000)`
  const page = await shown.open(member, `/orgs/${caller.slug}/settings/usage`)
  await page.getByText('9,000 of 10,000').waitFor()
  await page.getByText(/90% used, nearly at the limit/).waitFor()
  await page.getByText('new runs are refused until the reset').waitFor()
  assert.equal(await page.getByRole('progressbar', { name: /CI runs this month/ }).getAttribute('aria-valuenow'), '90')
  await page.getByText('Signed statements: not included').waitFor()
  await page.context().close()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the audit log and the usage are accessible, and fit on a narrow screen, ${colorScheme}`, async () => {
    const page = await shown.open(admin, log, { colorScheme })
    for (const [path, sign] of [
      [log, 'Gate created'],
      [log.replace('audit-log', 'usage'), 'CI runs this month'],
    ] as const) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(path)
      await page.getByText(sign).first().waitFor()
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
    }
    await page.context().close()
  })
}
