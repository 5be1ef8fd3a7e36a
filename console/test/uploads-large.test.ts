import assert from 'node:assert/strict'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startWork } from '../../server/src/start/work.ts'
import { startTestConsole } from './support/console.ts'

/** 1024 for the largest report that is allowed. */
const MIB = Number(process.env.SHIPLOCK_TEST_UPLOAD_MIB ?? 256)
/** On an idle machine, no task takes 200 ms. Tests share theirs. */
const LONGEST_TASK_MS_MAX = 1000
/** Whatever the size of the report. */
const GROWTH_MIB_MAX = 96

test(`a report of ${MIB} MiB is hashed and sent while the page stays responsive, with little memory`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-upload-'))
  const shown = await startTestConsole()
  const worker = await startWork(shown.api.services, shown.api.database)
  try {
    const path = await sparseFile(join(directory, 'large.sarif'))
    const person = await shown.person({ role: 'developer' })
    const page = await shown.open(person, `/orgs/${shown.caller.slug}/security/uploads?to=acme/shop`)
    await page.getByText('Drag reports or folders here').waitFor()
    await watchLongTasks(page)
    const before = await peakMib(shown.browser)
    await page.getByLabel('Report files').setInputFiles(path)
    // Zeros are no report: the server has them, and says so.
    await page
      .getByRole('region', { name: 'Your uploads' })
      .getByText('The report could not be read')
      .waitFor({ timeout: 240_000 })
    const longest = await longestTask(page)
    assert.ok(longest < LONGEST_TASK_MS_MAX, `the longest task took ${longest} ms`)
    const growth = (await peakMib(shown.browser)) - before
    assert.ok(growth < GROWTH_MIB_MAX, `the page took ${growth} MiB more`)
  } finally {
    await worker.close()
    await shown.close()
    await rm(directory, { recursive: true })
  }
})

async function sparseFile(path: string): Promise<string> {
  const file = await open(path, 'w')
  await file.truncate(MIB * 1024 * 1024)
  await file.close()
  return path
}

async function watchLongTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: number[] = []
    Object.assign(window, { longTasks: seen })
    new PerformanceObserver((list) => seen.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    })
  })
}

async function longestTask(page: Page): Promise<number> {
  return page.evaluate(() => Math.max(0, ...(window as unknown as { longTasks: number[] }).longTasks))
}

/** The most memory that a process of the page has had. Buffers outside of its heap count, too. */
async function peakMib(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const pages = processInfo.filter(({ type }) => type === 'renderer')
  const peaks = await Promise.all(pages.map(({ id }) => readFile(`/proc/${id}/status`, 'utf8')))
  return Math.max(...peaks.map((status) => Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024))
}
