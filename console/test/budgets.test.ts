import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import type { Person } from '../../server/test/support/people.ts'
import { startTestConsole, type TestConsole } from './support/console.ts'
import { measureSlowness } from './support/machine-speed.ts'
import { storeMuch } from './support/stored-organization.ts'

const KIB = 1024
const FIRST_VIEW_SCRIPT_BYTES_MAX = 200 * KIB
const HOME_MS_MAX = 1000
const INTERACTION_MS_MAX = 200
/** A slow processor is so many times slower than the machine for which the budgets are stated. */
const SLOWDOWN = 4
/** Other work on the machine makes single measurements longer, never shorter. */
const TRIES = 15

let shown: TestConsole
let person: Person
let home: string

before(async () => {
  shown = await startTestConsole()
  home = `/orgs/${shown.caller.slug}`
  await storeMuch(shown, { findings: 1_000_000, runs: 20_000 })
  person = await shown.person()
})
after(() => shown?.close())

/** A window with an empty cache and the real clock. */
async function openWindow(): Promise<{ page: Page; cdp: CDPSession; close(): Promise<void> }> {
  const context = await shown.browser.newContext({ baseURL: shown.url, viewport: { width: 1440, height: 900 } })
  const [name = '', value = ''] = person.cookie.split('=')
  await context.addCookies([{ name, value, url: shown.url, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  return { page, cdp, close: () => context.close() }
}

/** Home is usable when every panel and every chart shows its data. */
async function untilUsable(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByRole('slider', { name: 'Open issues: day', exact: true }).waitFor()
  await page.getByRole('slider', { name: 'Runs that succeed: day' }).waitFor()
  await page.locator('main:not(:has([aria-busy=true]))').waitFor()
}

test('the first view takes less than 200 KiB of compressed script', async () => {
  const { page, cdp, close } = await openWindow()
  const scripts = new Map<string, number>()
  await cdp.send('Network.enable')
  cdp.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.set(requestId, 0)
  })
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) scripts.set(requestId, encodedDataLength)
  })
  await page.goto(home)
  await untilUsable(page)
  const bytes = [...scripts.values()].reduce((sum, size) => sum + size, 0)
  await close()
  assert.ok(scripts.size > 0)
  assert.ok(bytes < FIRST_VIEW_SCRIPT_BYTES_MAX, `${Math.round(bytes / KIB)} KiB in ${scripts.size} files`)
})

test('Home is usable in less than a second with 1,000,000 findings stored', async () => {
  const slowness = await measureSlowness(shown.browser)
  const times: number[] = []
  for (let attempt = 0; attempt < TRIES && Math.min(...times) >= HOME_MS_MAX; attempt += 1) {
    const { page, close } = await openWindow()
    const startedAt = performance.now()
    await page.goto(home, { waitUntil: 'commit' })
    await untilUsable(page)
    times.push((performance.now() - startedAt) / slowness)
    await close()
  }
  assert.ok(Math.min(...times) < HOME_MS_MAX, `${times.map(Math.round)} ms, at a slowness of ${slowness}`)
})

/** What a person clicks on a page, and how they see that the page is there. */
const INTERACTIONS: {
  name: string
  path: string
  ready: (page: Page) => Promise<unknown>
  click: (page: Page) => Promise<unknown>
}[] = [
  {
    name: 'the period of Home',
    path: '',
    ready: untilUsable,
    click: (page) => page.getByText('90 days', { exact: true }).click(),
  },
  {
    name: 'a table on Home',
    path: '',
    ready: untilUsable,
    click: (page) => page.getByRole('button', { name: 'Show as table' }).first().click(),
  },
  {
    name: 'a filter of the runs',
    path: '/runs',
    ready: (page) => page.getByRole('row').nth(10).waitFor(),
    click: (page) => page.getByRole('combobox', { name: 'Status' }).click(),
  },
  {
    name: 'a filter of the issues',
    path: '/security/issues',
    ready: (page) => page.getByRole('row').nth(10).waitFor(),
    click: (page) => page.getByRole('combobox', { name: 'Severity' }).click(),
  },
]

for (const { name, path, ready, click } of INTERACTIONS)
  test(`${name} reacts within 200 ms on a slow processor`, async () => {
    const slowness = await measureSlowness(shown.browser)
    const rate = Math.max(1, SLOWDOWN / slowness)
    const excess = Math.max(1, slowness / SLOWDOWN)
    const times: number[] = []
    for (let attempt = 0; attempt < TRIES && Math.min(...times) >= INTERACTION_MS_MAX; attempt += 1) {
      const { page, cdp, close } = await openWindow()
      await page.goto(home + path)
      await ready(page)
      await cdp.send('Emulation.setCPUThrottlingRate', { rate })
      times.push((await slowestEvent(page, () => click(page))) / excess)
      await close()
    }
    assert.ok(Math.min(...times) < INTERACTION_MS_MAX, `${times} ms, throttled ${rate} times`)
  })

/** The time from a click to the next paint, as the browser measures it. Shorter than 16 ms is 0. */
async function slowestEvent(page: Page, act: () => Promise<unknown>): Promise<number> {
  await page.evaluate(`
    window.slowest = 0
    new PerformanceObserver((list) => {
      for (const { duration, interactionId } of list.getEntries())
        if (interactionId) window.slowest = Math.max(window.slowest, duration)
    }).observe({ type: 'event', durationThreshold: 16 })`)
  await act()
  // The observer is called after the frame that it measures.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))',
  )
  return page.evaluate<number>('window.slowest')
}

test('200 navigations leave no memory behind', async () => {
  const { page, cdp, close } = await openWindow()
  await page.goto(home)
  await untilUsable(page)
  await cdp.send('Performance.enable')
  await navigate(page, 20)
  const before_ = await memory(cdp)
  await navigate(page, 200)
  const after_ = await memory(cdp)
  await close()
  const [mib, nodes] = [(after_.heap - before_.heap) / KIB / KIB, after_.nodes - before_.nodes]
  assert.ok(mib < 8, `the heap grew by ${mib.toFixed(1)} MiB`)
  assert.ok(nodes < 3000, `the document grew by ${nodes} nodes`)
})

const PLACES = ['Runs', 'Deployments', 'Issues', 'Compliance', 'Home'] as const

async function navigate(page: Page, times: number): Promise<void> {
  const main = page.getByRole('navigation', { name: 'Main' })
  for (let time = 0; time < times; time += 1) {
    const name = PLACES[time % PLACES.length] as string
    await main.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
  }
}

async function memory(cdp: CDPSession): Promise<{ heap: number; nodes: number }> {
  // Twice, because finalizers of the first collection release more.
  await cdp.send('HeapProfiler.collectGarbage')
  await cdp.send('HeapProfiler.collectGarbage')
  const { metrics } = await cdp.send('Performance.getMetrics')
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0
  return { heap: of('JSHeapUsedSize'), nodes: of('Nodes') }
}
