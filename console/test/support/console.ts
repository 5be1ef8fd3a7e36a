import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { type Caller, startTestApi, type TestApi } from '../../../server/test/support/api.ts'
import { createPerson, type Person } from '../../../server/test/support/people.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const TRANSITIONS_END = `(async () => {
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const running = document.getAnimations().filter((each) => each instanceof CSSTransition)
    if (running.length === 0) return
    await Promise.allSettled(running.map(({ finished }) => finished))
  }
})()`

type PageOptions = { colorScheme?: 'light' | 'dark'; width?: number; height?: number }

/** The console of a server of its own, in a real browser. */
export type TestConsole = {
  api: TestApi
  caller: Caller
  /** The address of the console. Passkeys and cookies on plain http belong to `localhost`. */
  url: string
  browser: Browser
  /** A new window in which the person is signed in (null: nobody). The clock is the server's. */
  open(person: Person | null, path?: string, options?: PageOptions): Promise<Page>
  /** A person of the organization of `caller`. */
  person(options?: Partial<Parameters<typeof createPerson>[1]>): Promise<Person>
  close(): Promise<void>
}

export async function startTestConsole(options: Parameters<typeof startTestApi>[0] = {}): Promise<TestConsole> {
  const api = await startTestApi(options)
  const caller = await api.caller()
  const browser = await chromium.launch({
    executablePath: process.env.SHIPLOCK_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const url = api.url.replace('127.0.0.1', 'localhost')
  return {
    api,
    caller,
    url,
    browser,
    open: async (person, path = '/', pageOptions = {}) => {
      const { colorScheme = 'light', width = 1440, height = 900 } = pageOptions
      const context = await browser.newContext({ baseURL: url, colorScheme, viewport: { width, height } })
      if (person) await signInTo(context, url, person)
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      await page.clock.install({ time: api.clock.now() })
      await page.goto(path)
      return page
    },
    person: (personOptions) => createPerson(api, { orgId: caller.orgId, slug: caller.slug, ...personOptions }),
    close: async () => {
      await browser.close()
      await api.close()
    },
  }
}

async function signInTo(context: BrowserContext, url: string, { cookie }: Person): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Lax' }])
}

/** Fails with every violation of WCAG 2.2 AA that axe finds on the page. */
export async function assertAccessible(page: Page): Promise<void> {
  await transitionsEnd(page)
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(WCAG)} })`)) as AxeResults
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map(({ html }) => html.slice(0, 300)).join('\n  ')}`,
  )
  assert.deepEqual(found, [], await page.title())
}

/**
 * Fails if a name in a list is narrower than 160 px, or if something in a cell reaches into the
 * next one.
 */
export async function assertListsFit(page: Page): Promise<void> {
  // A list measures itself in a frame, and shows other columns in the next one.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))',
  )
  const misfits = await page.evaluate(() => {
    const isClipped = (element: Element, cell: Element): boolean =>
      element !== cell &&
      (getComputedStyle(element).overflowX !== 'visible' || isClipped(element.parentElement as Element, cell))
    const rows = [...document.querySelectorAll('[role=table] [role=row]')]
    return rows.flatMap((row) => {
      const cells = [...row.querySelectorAll(':scope > [role=cell], :scope > [role=columnheader]')]
      const widest = Math.max(...cells.map((cell) => cell.getBoundingClientRect().width))
      const over = cells.flatMap((cell) => {
        const { left, right } = cell.getBoundingClientRect()
        const inside = [...cell.querySelectorAll('*')].filter((element) => {
          const own = element.getBoundingClientRect()
          return own.width > 1 && (own.right > right + 1 || own.left < left - 1) && !isClipped(element, cell)
        })
        return inside.length === 0 ? [] : [`“${inside[0]?.textContent?.slice(0, 40)}” leaves its cell`]
      })
      return widest < 160 ? [`the widest cell has ${widest} px`, ...over] : over
    })
  })
  assert.deepEqual([...new Set(misfits)].slice(0, 5), [])
}

/** Fails if the page can be scrolled sideways, after the transitions to its width. */
export async function assertNoSidewaysScroll(page: Page): Promise<void> {
  await transitionsEnd(page)
  const [content, window] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
    number,
    number,
  ]
  assert.ok(content <= window, `the page is ${content} px wide in a window of ${window} px`)
}

/** Waits until so many elements are on the page. Fails if that does not happen. */
export async function assertCount(locator: Locator, expected: number): Promise<void> {
  if (expected > 0) await locator.nth(expected - 1).waitFor({ state: 'attached' })
  await locator.nth(expected).waitFor({ state: 'detached' })
}

/** Waits until nothing fades or moves any more, including what is about to start. */
async function transitionsEnd(page: Page): Promise<void> {
  await page.evaluate(TRANSITIONS_END)
}
