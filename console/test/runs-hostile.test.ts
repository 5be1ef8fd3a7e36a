import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { HostSource } from '../../server/src/codehosts/host-event.ts'
import { sendReport } from '../../server/test/support/ci-reports.ts'
import { createRun } from '../../server/test/support/ci-runs.ts'
import { hostRun, insertConnection } from '../../server/test/support/host-objects.ts'
import type { Person } from '../../server/test/support/people.ts'
import { applyRunEvents, completedRun, hostJob } from '../../server/test/support/provider-runs.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

let shown: TestConsole
let person: Person
let source: HostSource

before(async () => {
  shown = await startTestConsole()
  person = await shown.person()
  source = await insertConnection(shown.api.services.sql, shown.caller.orgId)
})
after(() => shown?.close())

/** Opens a run with one report, and fails if the page loads anything from another host. */
async function openReport(fields: Record<string, unknown>): Promise<Page> {
  const run = await createRun(shown.api, shown.caller)
  await sendReport(shown.api, shown.caller, run.id, fields)
  const page = await shown.open(person, '/account')
  await page.route(/^https?:\/\/(?!localhost)/, (route) => assert.fail(`loads ${route.request().url()}`))
  await page.goto(`/orgs/${shown.caller.slug}/runs/${run.id}`)
  return page
}

async function storeJobs(
  number: number,
  names: string[],
  dependencies: Record<string, string[]> = {},
): Promise<string> {
  const { sql } = shown.api.services
  const id = String(number)
  const events = names.map((name, index) => ({
    kind: 'job' as const,
    data: hostJob({ run_id: id, id: `${id}-${index}`, name, status: 'success' }),
  }))
  const run = completedRun({ ...hostRun(), id, number, status: 'success' })
  await applyRunEvents(shown.api.services, source, [{ kind: 'run', data: run }, ...events])
  await sql`
    insert into workflow_files (org_id, provider, repository_id, blob, job_dependencies, deploys)
    values (${shown.caller.orgId}, 'github', '1001', ${id}, ${sql.json(dependencies)}, false)`
  await sql`update provider_runs set workflow_blob = ${id} where run_id = ${`gh_run_${id}`}`
  return `/orgs/${shown.caller.slug}/runs/gh_run_${id}`
}

const SUMMARY = `# Title
<script>document.title = 'broken'</script> <img src=x onerror="document.title='broken'">

[bad](javascript:alert(1)) [data](data:text/html,x) [good](https://good.example/a) [relative](/orgs/x)

![a picture](https://tracker.example/pixel.png) [![badge](https://tracker.example/b.png)](https://good.example/b)

|${' column |'.repeat(50)}
|${'---|'.repeat(50)}
|${' cell |'.repeat(50)}

A note[^1].

[^1]: The note. \u202Egnitirw desrever`

test('Markdown of a job runs nothing, loads nothing, and leads only to web addresses', async () => {
  const page = await openReport({ summary: SUMMARY })
  await page.getByRole('heading', { level: 4, name: 'Title' }).waitFor()
  assert.equal(await page.title(), 'build · Shiplock')
  await assertCount(page.getByRole('main').locator('img, script, iframe'), 0)
  const addresses = await page
    .locator('article a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  assert.deepEqual(addresses, ['https://good.example/a', 'https://tracker.example/pixel.png', 'https://good.example/b'])
  assert.equal(await page.getByRole('link', { name: 'good' }).getAttribute('rel'), 'noreferrer noopener')
  await assertAccessible(page)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
  await page.context().close()
})

const LONG = { job: { name: `\u202E${'n'.repeat(90)}` }, summary: `**start** ${'word '.repeat(15)}\n\n`.repeat(10_000) }

test('a summary of a megabyte is shown in parts', async () => {
  const page = await openReport({ summary: LONG.summary, job: LONG.job })
  await page.getByText('start').first().waitFor()
  await page.getByRole('button', { name: /Show the rest as text/ }).click()
  await page.getByRole('group', { name: 'Summary as text' }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
  await page.context().close()
})

test('deeply nested summaries leave the page usable', async () => {
  const run = await createRun(shown.api, shown.caller)
  const nested = ['>'.repeat(30_000), '- '.repeat(15_000), '*_'.repeat(15_000), '['.repeat(30_000)]
  for (const [index, summary] of nested.entries())
    await sendReport(shown.api, shown.caller, run.id, { summary, job: { name: `job ${index}` } })
  const page = await shown.open(person, `/orgs/${shown.caller.slug}/runs/${run.id}`)
  for (const index of nested.keys()) {
    const card = page.getByRole('article', { name: `Report of job ${index}` })
    const toggle = card.getByRole('button', { name: `job ${index}` })
    // Three of them are open from the start: which, is open for reports of the same second.
    if ((await toggle.getAttribute('aria-expanded')) === 'false') await toggle.click()
    await card.getByText(index === 3 ? '[[[[' : 'Show the summary as text').waitFor()
  }
  await page.context().close()
})

test('names of 1,000 characters, names of the language, cycles and unknown jobs', async () => {
  const long = `\u202E${'job'.repeat(333)}`
  const path = await storeJobs(9100, [long, '__proto__', 'a', 'b'], {
    a: ['b'],
    b: ['a', 'nobody'],
    constructor: ['a'],
  })
  const page = await shown.open(person, path)
  const jobs = page.getByRole('group', { name: 'Jobs' })
  // Those of the workflow file are shown before those that the code host reports.
  await jobs.getByText(long).waitFor()
  await assertCount(jobs.getByRole('listitem'), 5)
  await assertAccessible(page)
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
  await page.context().close()
})

test('500 jobs are a list, and no jobs are no graph', async () => {
  const many = await storeJobs(
    9101,
    Array.from({ length: 500 }, (_, index) => `job ${index}`),
  )
  const page = await shown.open(person, many)
  await page.getByRole('group', { name: 'Jobs' }).getByText('job 499').waitFor()
  await page.goto(await storeJobs(9102, []))
  await page.getByText('No job of this attempt has sent a report').waitFor()
  await assertCount(page.getByRole('heading', { name: 'Jobs' }), 0)
  await page.context().close()
})
