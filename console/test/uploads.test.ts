import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startWork } from '../../server/src/start/work.ts'
import { createUpload, putFile } from '../../server/test/support/reports.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'
import { notAffected, openVex } from '../../server/test/support/vex.ts'
import {
  assertAccessible,
  assertCount,
  assertNoSidewaysScroll,
  startTestConsole,
  type TestConsole,
} from './support/console.ts'

let shown: TestConsole
let worker: { close(): Promise<void> }

before(async () => {
  shown = await startTestConsole()
  worker = await startWork(shown.api.services, shown.api.database)
})
after(async () => {
  await worker?.close()
  await shown?.close()
})

type TestFile = { name: string; content: string }

const report = (name: string, rule = name): TestFile => ({
  name,
  content: JSON.stringify(sarif([sarifResult(rule)])),
})

/** Drops files as a browser does, with a DataTransfer that holds them. */
async function drop(area: Locator, files: TestFile[]): Promise<void> {
  const page = area.page()
  const data = await page.evaluateHandle((contents) => {
    const transfer = new DataTransfer()
    for (const { name, content } of contents) transfer.items.add(new File([content], name))
    return transfer
  }, files)
  await area.dispatchEvent('dragover', { dataTransfer: data })
  await area.dispatchEvent('drop', { dataTransfer: data })
}

const area = (page: Page) => page.getByText('Drag reports or folders here')
const queue = (page: Page) => page.getByRole('region', { name: 'Your uploads' })
const row = (page: Page, name: string) => queue(page).getByRole('listitem').filter({ hasText: name })

async function openUploads(search = '?to=acme/shop'): Promise<Page> {
  return shown.open(await shown.person({ role: 'developer' }), `/orgs/${shown.caller.slug}/security/uploads${search}`)
}

test('a report that is dropped is hashed, sent and read, and then links to its findings', async () => {
  const page = await openUploads('')
  await page.getByLabel('Repository', { exact: true }).fill('acme/shop')
  await drop(area(page), [report('zap.sarif')])
  const uploaded = row(page, 'zap.sarif')
  await uploaded.getByText('1 finding: 1 new').waitFor()
  await page.getByRole('table', { name: 'uploads' }).getByRole('link', { name: 'zap.sarif', exact: true }).waitFor()
  await page.waitForURL(/[?&]to=acme%2Fshop/)
  await uploaded.getByRole('link', { name: 'Details' }).click()
  await page.getByRole('heading', { level: 1, name: 'zap.sarif' }).waitFor()
  await page.getByText('Finished').waitFor()
})

test('twenty files at once: each ends by itself, the same content is sent once, and a file that is no report says why', async () => {
  const page = await openUploads()
  const files = Array.from({ length: 17 }, (_, index) => report(`part-${index}.sarif`))
  const others = [report('same.sarif', 'part-3.sarif'), { name: 'notes.json', content: '{"hello":1}' }]
  await drop(area(page), [...files, ...others, { name: 'empty.sarif', content: '' }])
  await queue(page).getByText('20 files: 17 finished, 2 failed, 1 sent once').first().waitFor({ timeout: 60_000 })
  await row(page, 'notes.json').getByText('The file is JSON, but not SARIF').waitFor()
  await row(page, 'empty.sarif').getByText('The file is empty').waitFor()
  assert.match(await row(page, 'same.sarif').innerText(), /Same content as part-3.sarif/)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await assertAccessible(page)
  }
  await page.setViewportSize({ width: 360, height: 740 })
  await assertNoSidewaysScroll(page)
  await queue(page).getByRole('button', { name: 'Remove notes.json' }).click()
  await queue(page).getByText('19 files').first().waitFor()
})

test('files wait until the repository is known, and a keyboard is enough', async () => {
  const page = await openUploads('')
  await page.getByLabel('Report files').setInputFiles({
    name: 'keys.sarif',
    mimeType: 'application/json',
    buffer: Buffer.from(report('keys.sarif').content),
  })
  await page.getByText('1 file ready').waitFor()
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('acme/keyboard')
  await page.keyboard.press('Escape')
  const upload = page.getByRole('button', { name: 'Upload 1 file' })
  for (let tabs = 0; tabs < 12 && !(await isFocused(upload)); tabs++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await row(page, 'keys.sarif').getByText('1 finding: 1 new').waitFor()
})

async function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement)
}

test('an upload goes on while another page is shown, and leaving the console asks first', async () => {
  const page = await openUploads()
  let send = () => {}
  const held = new Promise<void>((resolve) => {
    send = resolve
  })
  await page.route(/storage\/objects/, async (route) => {
    await held
    await route.continue()
  })
  await drop(area(page), [report('slow.sarif')])
  await row(page, 'slow.sarif').getByText('Sending:').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('complementary', { name: 'Background work' }).getByText('Uploading 1 report').waitFor()
  const asked = page.waitForEvent('dialog')
  void page.close({ runBeforeUnload: true })
  await (await asked).dismiss()
  send()
  await page.getByRole('complementary', { name: 'Background work' }).waitFor({ state: 'detached' })
  await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).click()
  await row(page, 'slow.sarif').getByText('Finished').waitFor()
})

test('an address that has expired is replaced, and a rate limit is waited for', async () => {
  const page = await openUploads()
  let puts = 0
  let creations = 0
  await page.route(/storage\/objects/, async (route) => {
    if (route.request().method() !== 'PUT' || ++puts > 1) return route.continue()
    const headers = { 'access-control-allow-origin': '*' }
    return route.fulfill({ status: 403, headers, json: { error: { code: 'url_expired', message: 'Expired.' } } })
  })
  await page.route(/security\/uploads$/, async (route) => {
    if (route.request().method() !== 'POST' || ++creations > 1) return route.continue()
    const json = { error: { code: 'rate_limited', message: 'Too many requests.' } }
    return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json })
  })
  await drop(area(page), [report('again.sarif')])
  await row(page, 'again.sarif').getByText('Goes on in 1 s').waitFor()
  await row(page, 'again.sarif').getByText('1 finding: 1 new').waitFor()
  assert.deepEqual([puts, creations], [2, 3])
})

test('after the session has ended, the files say so, and are sent when they are tried again', async () => {
  const person = await shown.person({ role: 'developer' })
  const page = await shown.open(person, `/orgs/${shown.caller.slug}/security/uploads?to=acme/shop`)
  const cookies = await page.context().cookies()
  await area(page).waitFor()
  await page.context().clearCookies()
  await drop(area(page), [report('one.sarif'), report('two.sarif')])
  await row(page, 'one.sarif').getByText('You are signed out').waitFor()
  await row(page, 'two.sarif').getByText('You are signed out').waitFor()
  await page.context().addCookies(cookies)
  await page.getByRole('button', { name: 'Retry all failed' }).click()
  await queue(page).getByText('2 files: 2 finished').first().waitFor()
})

test('somebody without the permission sees the list and learns which permission uploading needs', async () => {
  const viewer = await shown.person({ role: 'viewer' })
  const page = await shown.open(viewer, `/orgs/${shown.caller.slug}/security/uploads`)
  await page.getByText('you need the permission “Upload security reports”').waitFor()
  await assertCount(area(page), 0)
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the pages of uploads are accessible and fit a narrow screen, ${colorScheme}`, async () => {
    const { api, caller } = shown
    const created = await createUpload(api, caller, Buffer.from(report(`page-${colorScheme}.sarif`).content))
    const person = await shown.person()
    const page = await shown.open(person, `/orgs/${caller.slug}/security/uploads?status=parsing`, { colorScheme })
    for (const path of ['?status=parsing', `/${created.body.data.upload.id}`, '/00000000000000000000000000000000']) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(`/orgs/${caller.slug}/security/uploads${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
      await assertAccessible(page)
      await page.setViewportSize({ width: 360, height: 740 })
      await assertNoSidewaysScroll(page)
    }
  })

test('a VEX document of somebody who may not triage is a proposal, which somebody with Triage confirms', async () => {
  const { api, caller } = shown
  const sender = await api.caller({ orgId: caller.orgId, scopes: ['write:security-findings', 'read:security'] })
  const vex = openVex([notAffected('CVE-2024-4242', ['pkg:npm/lodash@4.17.20'])])
  const bytes = Buffer.from(JSON.stringify(vex))
  const created = await createUpload(api, sender, bytes, { filename: 'lodash.vex.json' })
  const { id } = created.body.data.upload
  await putFile(created, bytes)
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: sender.key })
  const address = `/orgs/${caller.slug}/security/uploads/${id}`
  const title = 'This VEX document is a proposal'
  const asDeveloper = await shown.open(await shown.person({ role: 'developer' }), address)
  await asDeveloper.getByText(title).waitFor()
  await assertCount(asDeveloper.getByRole('button', { name: 'Confirm' }), 0)
  const page = await shown.open(await shown.person({ role: 'security' }), address)
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
  await page.getByText(title).waitFor({ state: 'detached' })
  await page.getByText('Sent with an API key').waitFor()
})

test('a list that cannot be loaded says so, and tries again', async () => {
  const page = await openUploads()
  const listed = /app\/api\/.*\/security\/uploads\?/
  await page.route(listed, (route) =>
    route.fulfill({ status: 400, json: { error: { code: 'x', message: 'Broken.' } } }),
  )
  await page.reload()
  await page.getByText('The uploads could not be loaded').waitFor()
  await page.unroute(listed)
  await page.getByRole('button', { name: 'Try again' }).click()
  const table = page.getByRole('table', { name: 'uploads' })
  await table.or(page.getByRole('heading', { name: 'No uploads' })).waitFor()
})
