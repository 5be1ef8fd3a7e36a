import type { Browser } from 'playwright-core'

/** The work takes so long on the machine for which the budgets are stated. */
const REFERENCE_MS = 11
const TRIES = 20

/** What scripts of pages do most: small objects, texts, sorting and lookups. */
const WORK = `(() => {
  const startedAt = performance.now()
  const rows = Array.from({ length: 20000 }, (_, at) => ({ id: (at * 7919) % 20000, name: 'row ' + at, tags: [at] }))
  rows.sort((one, other) => one.id - other.id)
  const byName = new Map(rows.map((row) => [row.name, row]))
  const found = JSON.parse(JSON.stringify(rows)).filter(({ name }) => byName.has(name))
  if (found.length !== rows.length) throw new Error('the work is not done')
  return performance.now() - startedAt
})()`

/**
 * How many times slower scripts run in this browser now than on the machine for which budgets are
 * stated; 1 if they run faster. Shared machines of CI differ by a factor of four from day to day.
 */
export async function measureSlowness(browser: Browser): Promise<number> {
  const page = await browser.newPage()
  const times: number[] = []
  for (let attempt = 0; attempt < TRIES; attempt += 1) times.push(await page.evaluate<number>(WORK))
  await page.close()
  return Math.max(1, Math.min(...times) / REFERENCE_MS)
}
