import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Browser, chromium } from 'playwright-core'
import { type Running, startProgram } from '../../server/test/support/program.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'

let dataDir: string
let running: Running
let browser: Browser

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-first-admin-'))
  const executablePath = process.env.SHIPLOCK_TEST_CHROMIUM ?? '/usr/bin/chromium'
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  running = await startProgram(dataDir)
})
after(async () => {
  await browser?.close()
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('from the setup link of a first start to a finished upload, with nothing but what the pages say', async () => {
  const page = await browser.newPage()
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) problems.push(message.text())
  })

  await page.goto(running.ready.setup.link.replace('127.0.0.1', 'localhost'))
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByLabel('Name').fill('Ada Lovelace')
  await page.getByLabel('Password').fill('a plain but long sentence')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/orgs/default')

  await page.getByRole('link', { name: 'Uploads', exact: true }).click()
  await page.getByRole('heading', { name: 'Uploads', level: 1 }).waitFor()
  await page.getByLabel('Repository', { exact: true }).fill('acme/shop')
  const report = Buffer.from(JSON.stringify(sarif([sarifResult('CWE-79')])))
  const chosen = page.waitForEvent('filechooser')
  await page
    .getByRole('button', { name: /Choose files|Select files|Upload/ })
    .first()
    .click()
  await (await chosen).setFiles({ name: 'zap.sarif', mimeType: 'application/json', buffer: report })
  await page.getByText('1 finding: 1 new').waitFor()

  await page.getByRole('list', { name: 'Files' }).getByRole('link', { name: 'Findings' }).click()
  await page.getByRole('heading', { name: 'Findings', level: 1 }).waitFor()
  await page.getByText('acme/shop').first().waitFor()
  assert.deepEqual(problems, [])
})
