import { type Benchmark, interleave, median, type Round } from './benchmark.ts'
import type { Setting } from './setting.ts'
import { LARGE, largeAndSmall, type StoredOrganization } from './stored-organizations.ts'

const ROUNDS = 5
const REQUESTS = 20
const LIMIT = 50

const FILTERS = [
  'findings?',
  'findings?repository=acme/stored-7',
  'findings?provider=github',
  'findings?provider=github&repository_id=1000007&repository=acme/stored-7',
  'findings?state=dismissed',
  'findings?state=open&severity=high',
  'findings?kind=license',
  'findings?scanner=semgrep',
  'findings?git_ref=main',
  'findings?path=services',
  'findings?path=services/shop/src/module-77',
  'findings?scanner=semgrep&kind=license',
  'findings?repository=acme/stored-7&state=open',
  'findings?first_seen_since=2020-01-01T00:00:00Z&state=fixed',
  'issues?',
  'issues?repository=acme/stored-7',
  'issues?status=dismissed',
  'issues?severity=critical',
  'issues?kind=container',
  'issues?kev=true',
  'issues?epss_min=0.9',
  'issues?sort=severity',
  'issues?sort=epss',
]

/** What grows with the number of findings must not be what a client waits for. */
export const largeLists: Benchmark<Setting>[] = [
  deepPage('findings'),
  deepPage('issues'),
  ...FILTERS.map(firstPage),
  databaseSize(),
]

/** Page 1,000 of 1,000 rows a page where there are so many, beside page 1. */
function deepPage(list: 'findings' | 'issues'): Benchmark<Setting> {
  return {
    name: `${list}, page far behind`,
    about: `the last full page of 1,000,000 findings, 1,000 rows each, beside page 1`,
    unit: 'ms',
    bar: { of: 'ratio', atMost: 1.2 },
    async measure(setting) {
      const { large } = await largeAndSmall(setting)
      const first = `${list}?limit=1000`
      const last = await lastFullPage(large, first)
      return interleave(
        ROUNDS,
        () => medianMs(large, `${first}&cursor=${last}`),
        () => medianMs(large, first),
      )
    },
  }
}

function firstPage(path: string): Benchmark<Setting> {
  return {
    name: `first page of ${path.replace(/\?$/, '')}`,
    about: 'with 1,000,000 findings stored, beside the same with 10,000',
    unit: 'ms',
    bar: { of: 'ratio', atMost: 1.3 },
    async measure(setting) {
      const { large, small } = await largeAndSmall(setting)
      const page = `${path}&limit=${LIMIT}`
      return interleave(
        ROUNDS,
        () => medianMs(large, page),
        () => medianMs(small, page),
      )
    },
  }
}

function databaseSize(): Benchmark<Setting> {
  return {
    name: 'database for 1,000,000 findings',
    about: 'findings, issues and their indexes; beside the findings alone',
    unit: 'MiB',
    bar: { of: 'ours', atMost: 2048 },
    async measure(setting): Promise<Round[]> {
      await largeAndSmall(setting)
      const [size] = await setting.sql<[{ all: number; bare: number }]>`
        select sum(pg_total_relation_size(oid)) / 1048576.0 * ${LARGE} / stored.count as all,
          sum(pg_relation_size(oid)) filter (where relname = 'findings') / 1048576.0 * ${LARGE} / stored.count as bare
        from pg_class
        cross join (select count(*) from findings) stored
        where relname in ('findings', 'security_issues', 'finding_streams')
        group by stored.count`
      return [{ ours: Number(size.all), bare: Number(size.bare) }]
    },
  }
}

async function medianMs(organization: StoredOrganization, path: string): Promise<number> {
  const times: number[] = []
  for (let nth = 0; nth < REQUESTS; nth += 1) {
    const startedAt = performance.now()
    await read(organization, path)
    times.push(performance.now() - startedAt)
  }
  return median(times)
}

/** The cursor of the last page that is full. */
async function lastFullPage(organization: StoredOrganization, path: string): Promise<string> {
  let cursor = ''
  for (;;) {
    const page = await read(organization, cursor === '' ? path : `${path}&cursor=${cursor}`)
    if (page.next_cursor === null) return cursor
    const next = encodeURIComponent(page.next_cursor)
    const following = await read(organization, `${path}&cursor=${next}`)
    if (following.data.length < page.data.length || following.next_cursor === null) return next
    cursor = encodeURIComponent(following.next_cursor)
  }
}

type Answer = { data: unknown[]; next_cursor: string | null }

async function read({ url, key }: StoredOrganization, path: string): Promise<Answer> {
  const response = await fetch(`${url}/v1/security/${path}`, { headers: { authorization: `Bearer ${key}` } })
  if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Answer
}
