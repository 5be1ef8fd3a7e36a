import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { HostSource } from '../../server/src/codehosts/host-event.ts'
import { sendReport } from '../../server/test/support/ci-reports.ts'
import { createRun, patchRun } from '../../server/test/support/ci-runs.ts'
import { deployOnHost, importRecords, sendSbom } from '../../server/test/support/exposure-world.ts'
import { fakeCodeHost } from '../../server/test/support/fake-client.ts'
import { answer, configureGate, openGate } from '../../server/test/support/gates.ts'
import { hostEnvironment } from '../../server/test/support/host-deployments.ts'
import { hostRepository, insertConnection } from '../../server/test/support/host-objects.ts'
import { type Person, requestAs } from '../../server/test/support/people.ts'
import { drainQueue } from '../../server/test/support/queue.ts'
import {
  assertAccessible,
  assertCount,
  assertListsFit,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'
import { importThreats, LOG4SHELL } from './support/security.ts'

const [FIRST, SECOND, THIRD, FOURTH] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
]
const LOG4J = 'pkg:maven/org.apache.logging.log4j/log4j-core'
const IMAGE = 'e'.repeat(64)
const SCREENSHOTS = process.env.SHIPLOCK_TEST_SCREENSHOTS

let shown: TestConsole
let ada: Person
let org: string
let source: HostSource
/** The pages of the story, by what they show. */
let at: Record<string, string>
let old: string

const componentNamed = async (name: string, version: string) => {
  const { body } = await requestAs(shown.api, ada, 'GET', `/components?package=${name}&version=${version}&present=any`)
  return body.data[0]
}

before(async () => {
  shown = await startTestConsole({
    codeHosts: fakeCodeHost({ readEnvironment: async () => hostEnvironment() }).codeHosts,
  })
  const { api, caller } = shown
  ada = await shown.person()
  org = `/orgs/${caller.slug}`
  source = await insertConnection(api.services.sql, caller.orgId)
  const licensed = (purl: string, id: string) => ({ purl, licenses: [{ license: { id } }] })
  const minute = () => api.clock.advance(60_000)
  await sendSbom(api, caller, [licensed(`${LOG4J}@2.14.1`, 'Apache-2.0'), 'pkg:npm/lodash@4.17.20'], {
    commitSha: FIRST,
  })
  minute()
  await sendSbom(api, caller, [licensed(`${LOG4J}@2.17.0`, 'Apache-2.0'), 'pkg:npm/lodash@4.17.21'], {
    commitSha: SECOND,
  })
  minute()
  old = await deployOnHost(api, source, { id: '1001', commit: FIRST })
  await deployOnHost(api, source, { id: '1002', commit: SECOND, environment: 'staging' })
  await deployOnHost(api, source, { id: '1003', commit: THIRD, environment: 'preview' })
  const web = { repository: hostRepository({ id: '1002', full_name: 'acme/web' }), commit: FOURTH }
  await sendSbom(api, caller, [`${LOG4J}@2.14.0`], { commitSha: FOURTH, repository: 'acme/web' })
  minute()
  await deployOnHost(api, source, { id: '1005', environment: 'production', ...web })
  minute()
  await importRecords(api, {
    ...{ id: 'GHSA-jfh8-c2jp-5v3q', modified: '2026-03-01T00:00:00Z', aliases: [LOG4SHELL], summary: 'Log4Shell' },
    affected: [
      {
        package: { ecosystem: 'Maven', name: 'org.apache.logging.log4j:log4j-core' },
        ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '2.0-beta9' }, { fixed: '2.15.0' }] }],
      },
    ],
  })
  await drainQueue(api)
  await importThreats(api)
  await configureGate(api, caller, { name: 'Production', environment: 'production' })
  const run = await createRun(api, caller, { repository: 'github.com/acme/image', ref: 'main' })
  await sendReport(api, caller, run.id, {
    job: { name: 'build' },
    subjects: [{ name: 'registry.example/app', sha256: IMAGE }],
  })
  const { deployment_id } = await openGate(api, caller, { run_id: run.id, environment: 'production' })
  await answer(api, caller, deployment_id, 'approve')
  await patchRun(api, caller, run.id, { status: 'success' })
  await drainQueue(api)
  const component = await componentNamed('log4j-core', '2.14.1')
  at = {
    inventory: `${org}/inventory`,
    component: `${org}/inventory/${component.id}`,
    vulnerability: `${org}/vulnerabilities/${LOG4SHELL}`,
    'vulnerability-unknown': `${org}/vulnerabilities/CVE-1999-0001`,
    digest: `${org}/digests/${IMAGE}`,
    deployment: `${org}/deployments/${deployment_id}`,
    run: `${org}/runs/${run.id}`,
    repository: `${org}/repository?name=acme%2Fshop`,
  }
})
after(() => shown?.close())

test('without any document, pages say that nothing is known, and not that there is nothing', async () => {
  const other = await shown.api.caller()
  const bob = await shown.person({ orgId: other.orgId, slug: other.slug })
  const page = await shown.open(bob, `/orgs/${other.slug}/inventory`)
  await page.getByRole('heading', { name: 'No bill of materials was read yet' }).waitFor()
  await page.getByText('it is not known what your software contains').waitFor()
  await assertAccessible(page)
  await page.goto(`/orgs/${other.slug}/vulnerabilities/CVE-1999-0001`)
  await page.getByRole('heading', { name: 'Not known here' }).waitFor()
  await page.getByText('shiplock-server intel import --osv FILE').waitFor()
  await page.goto(`/orgs/${other.slug}/vulnerabilities/${LOG4SHELL}`)
  await page.getByText('No deployment runs, as far as Shiplock knows').waitFor()
  await page.goto(`/orgs/${other.slug}/digests/${IMAGE}`)
  await page.getByRole('heading', { name: 'Nothing is known about this digest' }).waitFor()
})

test('components are found by name, license and presence, and opened with Enter', async () => {
  const page = await shown.open(ada, `${at.inventory}?package=log4j*&license=Apache-2.0`)
  await page.getByRole('row').filter({ hasText: '2.17.0' }).waitFor()
  await assertCount(page.getByRole('row'), 2)
  await page.goto(`${at.inventory}?package=log4j-core&present=any`)
  await assertCount(page.getByRole('row'), 4)
  await page.goto(`${at.inventory}?package=log4j`)
  await page.getByRole('heading', { name: 'No components match the filters' }).waitFor()
  await page.goto(`${at.inventory}?package=log4j-core&version=2.17.0`)
  await page.getByRole('row').nth(1).waitFor()
  await page.keyboard.press('j')
  await page.locator('[role=row]:focus').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'org.apache.logging.log4j:log4j-core 2.17.0' }).waitFor()
})

test('a component shows where it was, its issues and its other versions', async () => {
  const page = await shown.open(ada, at.component)
  await page.getByRole('link', { name: LOG4SHELL, exact: true }).waitFor()
  await page.getByText('found with version 2.14.0').waitFor()
  await page.getByText('Removed').first().waitFor()
  await page.getByRole('region', { name: 'Other versions' }).getByRole('link', { name: '2.17.0' }).click()
  const runs = page.getByRole('region', { name: 'Runs in' })
  await runs.getByRole('link', { name: 'acme/shop to staging' }).waitFor()
  await assertCount(runs.getByRole('link'), 1)
})

test('a vulnerability shows what runs affected, what is unknown and why, and changes by itself', async () => {
  const page = await shown.open(ada, `/vulnerabilities/${LOG4SHELL.toLowerCase()}`)
  await page.getByRole('heading', { level: 1, name: LOG4SHELL }).waitFor()
  const sum = async (label: string, count: number) =>
    await page.getByRole('group', { name: label, exact: true }).getByText(String(count), { exact: true }).waitFor()
  await page.getByText('2 of the 5 deployments that run are affected. It is not known for 2 more.').waitFor()
  for (const [label, count] of Object.entries({ Running: 5, Affected: 2, Unknown: 2, 'Not affected': 1 }))
    await sum(label, count)
  const affected = page
    .getByRole('table', { name: 'affected entries' })
    .getByRole('row')
    .filter({ hasText: 'acme/shop to production' })
  await affected.getByText('2.14.1, fixed in 2.15.0').waitFor()
  await affected.getByText('A bill of materials of the deployed commit. Sent with an API key').waitFor()
  const unknown = page.getByRole('table', { name: 'unknown deployments' })
  await unknown.getByRole('row').filter({ hasText: 'acme/shop to preview' }).getByText('Only earlier commits').waitFor()
  await unknown.getByRole('row').filter({ hasText: 'acme/image' }).getByText('No bill of materials').waitFor()
  await page.getByText('Exploited', { exact: true }).waitFor()
  await page.getByText('1 with a version that is not affected').waitFor()

  const again = await deployOnHost(shown.api, source, { id: '1004', commit: FIRST, environment: 'canary' })
  await page.getByText('3 of the 6 deployments that run are affected. It is not known for 2 more.').waitFor()
  await requestAs(shown.api, ada, 'DELETE', `/deployments/${again}/live?reason=${encodeURIComponent('Removed')}`)
  await page.getByText('2 of the 5 deployments that run are affected.').waitFor()
})

test('issues, Home and the palette lead to the vulnerability', async () => {
  const page = await shown.open(ada, org)
  const panel = page.getByRole('region', { name: 'Critical and exploited' })
  await panel.getByText('Exploited, live').waitFor()
  await panel.getByRole('link', { name: LOG4SHELL, exact: true }).click()
  await page.waitForURL(`**${at.vulnerability}`)
  await page.getByRole('link', { name: 'Open issue' }).first().click()
  await page.getByRole('link', { name: LOG4SHELL, exact: true }).click()
  await page.waitForURL(`**${at.vulnerability}`)
  for (const [typed, path] of [
    ['cve-2021-44228', /vulnerabilities\/cve-2021-44228$/],
    [`sha256:${IMAGE}`, /digests\/e{64}$/],
    [LOG4J, /inventory\?purl=/],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /Search/ }).fill(typed)
    await page.getByRole('option', { name: /^Open/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(path)
  }
})

test('a deployment names what it consists of, and is ended with a reason', async () => {
  const page = await shown.open(ada, `${at.deployment}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'What is deployed' }).getByRole('link').click()
  await page
    .getByRole('region', { name: 'Deployments of it' })
    .getByRole('link', { name: /image to production/ })
    .click()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'End', exact: true }).click()
  await dialog.getByText('Enter at least 3 characters.').waitFor()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('The environment was removed')
  await dialog.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('Live', { exact: true }).waitFor({ state: 'detached' })
  const { body } = await requestAs(shown.api, ada, 'GET', `${at.deployment}`.replace(org, ''))
  assert.equal(body.data.live, null)
})

test('a repository shows its bill of materials, and exports it as the server wrote it', async () => {
  const page = await shown.open(ada, at.repository)
  const section = page.getByRole('region', { name: 'Bill of materials' })
  await section.getByText('2 components').waitFor()
  for (const [name, format] of [
    ['Export CycloneDX', 'cyclonedx'],
    ['Export SPDX', 'spdx'],
  ] as const) {
    const download = page.waitForEvent('download')
    await section.getByRole('button', { name }).click()
    const saved = await readFile(await (await download).path(), 'utf8')
    const { text } = await requestAs(shown.api, ada, 'GET', `/security/sbom?repository=acme/shop&format=${format}`)
    assert.equal(saved, text)
  }
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the pages of the inventory have no barriers and fit, ${colorScheme}`, async () => {
    const page = await shown.open(ada, '/account', { colorScheme })
    for (const [name, path] of Object.entries({ ...at, old: `${org}/deployments/${old}`, home: org })) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      await assertAccessible(page)
      for (const width of [1440, 1024, 800, 360]) {
        await page.setViewportSize({ width, height: 900 })
        await assertNoSidewaysScroll(page)
        if (width > 768) await assertListsFit(page)
        if (SCREENSHOTS)
          await page.screenshot({ path: `${SCREENSHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true })
      }
    }
  })
}
