import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { MINUTE_MS } from '../../server/src/platform/clock.ts'
import type { ChangeRecord } from '../../server/src/provenance/changes/change-record.ts'
import { createRun, patchRun } from '../../server/test/support/ci-runs.ts'
import { answer, configureGate, openGate } from '../../server/test/support/gates.ts'
import type { Person } from '../../server/test/support/people.ts'
import { drainQueue } from '../../server/test/support/queue.ts'
import { amendChange, recordChange } from '../../server/test/support/recorded-changes.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

let shown: TestConsole
let person: Person
let record: ChangeRecord
let deployment: string

before(async () => {
  shown = await startTestConsole()
  const { api, caller } = shown
  person = await shown.person({ role: 'developer' })
  await recordChange(api.services, caller.orgId, { deviations: ['no_review', 'unsigned_commit'] })
  record = await recordChange(api.services, caller.orgId)
  await amendChange(api.services, caller.orgId, record)
  deployment = await deploy()
})
after(() => shown?.close())

async function deploy(): Promise<string> {
  const { api, caller } = shown
  await configureGate(api, caller, { environment: '*' })
  const run = await createRun(api, caller)
  const { deployment_id } = await openGate(api, caller, { run_id: run.id, environment: 'production' })
  assert.equal((await answer(api, caller, deployment_id, 'approve')).status, 200)
  api.clock.advance(MINUTE_MS)
  assert.equal((await patchRun(api, caller, run.id, { status: 'success' })).status, 200)
  await drainQueue(api)
  return deployment_id
}

const open = (path: string) => shown.open(person, `/orgs/${shown.caller.slug}/provenance${path}`)
const checks = (page: Page) => page.getByRole('list', { name: 'Checks' }).getByRole('listitem').allInnerTexts()

test('the record of a change is verified in the browser, step by step', async () => {
  const page = await open(`/changes/${record.id}`)
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('Verified', { exact: true }).waitFor()
  const results = await checks(page)
  const names = results.map((text) => text.split(':')[0])
  assert.deepEqual(names, [
    ...['Signature', 'Payload type', 'Digest', 'Statement', 'Subject', 'Hash chain'],
    ...['Log entry', 'Log inclusion', 'Log checkpoint'],
  ])
  assert.deepEqual(
    results.filter((text) => !text.includes(': passed.')),
    [],
  )
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  const file = JSON.parse(await readFile(await (await download).path(), 'utf8'))
  assert.match(file.data.statement_digest, /^sha256:/)
})

test('a statement that was changed on its way is refused, and the page says what does not fit', async () => {
  const page = await open('')
  await page.route(/\/statement\?/, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const { envelope } = body.data
    const payload = Buffer.from(envelope.payload, 'base64').toString().replaceAll('alice', 'mallory')
    envelope.payload = Buffer.from(payload).toString('base64')
    await route.fulfill({ response, json: body })
  })
  await page.getByRole('table', { name: 'changes' }).getByRole('link').first().click()
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('Verification failed').waitFor()
  const failed = (await checks(page)).filter((text) => text.includes(': failed.')).map((text) => text.split(':')[0])
  assert.deepEqual(failed, ['Signature', 'Digest', 'Hash chain', 'Log entry'])
  assert.match(await page.getByRole('list', { name: 'Checks' }).innerText(), /the statement was changed/)
})

test('changes are filtered by their deviations in the address', async () => {
  const page = await open('?deviation=no_review')
  const changes = page.getByRole('table', { name: 'changes' })
  await changes.getByText('Unsigned commit').waitFor()
  await assertCount(changes.getByRole('row'), 2)
})

test('the lineage of a deployment is a graph from its commit to its environment', async () => {
  const page = await open(`/lineage/${deployment}`)
  const graph = page.getByLabel('Lineage', { exact: true })
  for (const text of ['Commit without a change', 'Gate · approved by test key', 'production'])
    await graph.getByText(text).first().waitFor()
  await page.getByRole('button', { name: 'Verify' }).first().click()
  await page.getByText('Verified', { exact: true }).waitFor()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the pages of provenance are accessible and fit a narrow screen, ${colorScheme}`, async () => {
    const page = await shown.open(person, `/orgs/${shown.caller.slug}/provenance`, { colorScheme })
    const paths = ['', `/changes/${record.id}`, '/lineage', `/lineage/${deployment}`, '/keys', '?repository=acme/none']
    for (const path of paths) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(`/orgs/${shown.caller.slug}/provenance${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
    }
  })
