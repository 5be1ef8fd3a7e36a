import { insertSession } from '../src/access/sign-in/session.store.ts'
import { createSessionToken, hashSessionToken } from '../src/access/sign-in/session.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import { createUuid } from '../src/platform/ids.ts'
import { countIssueDay, countRunDays, upsertProgress } from '../src/trends/counted-days.store.ts'
import { countDeliveryDays } from '../src/trends/delivery.store.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import type { Setting } from './setting.ts'
import { storeHistory } from './stored-history.ts'
import { LARGE, largeAndSmall, SMALL, type StoredOrganization } from './stored-organizations.ts'

const ROUNDS = 5
const REQUESTS = 10
const CHARTS = ['runs?days=90', 'runs?days=366', 'delivery?days=90', 'delivery?days=366', 'issues?days=366']

/** A chart must be there at once, whatever it counts. */
export const charts: Benchmark<Setting>[] = CHARTS.map((chart) => ({
  name: `chart ${chart}`,
  about: 'the slowest of 10 requests with 1,000,000 runs and findings, beside the same with 10,000',
  unit: 'ms',
  bar: { of: 'ours', atMost: 200 },
  async measure(setting) {
    const viewers = await viewersOf(setting)
    return interleave(
      ROUNDS,
      () => slowestMs(viewers.large, chart),
      () => slowestMs(viewers.small, chart),
    )
  },
}))

type Viewer = { url: string; cookie: string }
type Viewers = { large: Viewer; small: Viewer }

const made = new WeakMap<Setting, Promise<Viewers>>()

function viewersOf(setting: Setting): Promise<Viewers> {
  const known = made.get(setting)
  if (known) return known
  const making = makeViewers(setting)
  made.set(setting, making)
  return making
}

async function makeViewers(setting: Setting): Promise<Viewers> {
  const { large, small } = await largeAndSmall(setting)
  await storeHistory(setting.sql, large.id, LARGE)
  await storeHistory(setting.sql, small.id, SMALL)
  return { large: await makeViewer(setting.sql, large, 'large'), small: await makeViewer(setting.sql, small, 'small') }
}

/** A person of the organization, whose days the job has counted. */
async function makeViewer(sql: Sql, { id, url }: StoredOrganization, slug: string): Promise<Viewer> {
  const now = new Date()
  const day = 86_400_000
  const today = new Date(Math.floor(now.getTime() / day) * day)
  const runs = { org_id: id, from: null, until: new Date(today.getTime() - 4 * day), now }
  const delivery = { ...runs, until: today }
  await sql.begin(async (tx) => {
    await upsertProgress(tx, 'runs', runs)
    await countRunDays(tx, runs)
    await upsertProgress(tx, 'delivery', delivery)
    await countDeliveryDays(tx, delivery)
  })
  await countIssueDay(sql, id, now)
  const userId = createUuid(now)
  await sql`insert into users (id, email, name, created_at) values (${userId}, ${`${slug}@example.com`}, ${slug}, ${now})`
  await sql`
    insert into members (org_id, user_id, built_in_role, created_at)
    values (${id}, ${userId}, 'viewer', ${now})`
  const token = createSessionToken()
  const place = { address: null, user_agent: null }
  const session = { id: createUuid(now), user_id: userId, token_sha256: hashSessionToken(token), ...place }
  await insertSession(sql, { ...session, method: 'password' }, now)
  return { url: `${url}/app/api/orgs/${slug}/charts/`, cookie: `shiplock=${token}` }
}

async function slowestMs({ url, cookie }: Viewer, chart: string): Promise<number> {
  let slowest = 0
  for (let request = 0; request < REQUESTS; request += 1) {
    const startedAt = performance.now()
    const response = await fetch(url + chart, { headers: { cookie } })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`GET ${chart} answered ${response.status}`)
    slowest = Math.max(slowest, performance.now() - startedAt)
  }
  return slowest
}
