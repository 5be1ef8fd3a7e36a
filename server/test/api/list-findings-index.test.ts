import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db } from '../../src/platform/db/sql.ts'
import type { Page } from '../../src/platform/http/lists.ts'
import { listFindings } from '../../src/security/finding.store.ts'
import type { RepositorySelection } from '../../src/security/select-repositories.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

const REPOSITORIES = 4
const FINDINGS_EACH = 1500

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  const results = Array.from({ length: FINDINGS_EACH }, (_, index) => sarifResult(`r${index}`))
  for (let number = 1; number <= REPOSITORIES; number += 1) {
    await uploadReport(api, caller, sarif(results), { provider: 'github', repositoryId: `${number}` })
    api.clock.advance(1000)
  }
  await api.services.sql`analyze findings, finding_streams, reported_repositories`
})
after(() => api?.close())

type Plan = { 'Node Type': string; 'Index Name'?: string; Plans?: Plan[] }

/** A connection that explains the list's statement instead of running it; the fragments in it stay as they are. */
function explaining(sql: Db): Db {
  const tag = (strings: TemplateStringsArray, ...values: unknown[]) => {
    const isStatement = strings[0]?.trimStart().startsWith('select finding.created_at')
    const text = isStatement ? [`explain (format json) ${strings[0]}`, ...strings.slice(1)] : [...strings]
    return (sql as any)(Object.assign(text, { raw: text }), ...values)
  }
  return Object.assign(tag, { json: (value: never) => sql.json(value) }) as unknown as Db
}

async function planOf(selection: RepositorySelection, page: Partial<Page> = {}): Promise<Plan[]> {
  const now = api.clock.now()
  const window = {
    since: new Date(0),
    until: now,
    retentionClamped: false,
    asked: [null, null],
    limit: 100,
    after: null,
  }
  const rows: any = await listFindings(
    explaining(api.services.sql),
    caller.orgId,
    { ...window, ...page } as Page,
    selection,
  )
  const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)]
  return flat(rows[0]['QUERY PLAN'][0].Plan)
}

function assertInOrder(plan: Plan[], index: string): void {
  assert.ok(
    plan.some((node) => node['Index Name'] === index),
    JSON.stringify(plan.map((node) => node['Index Name'])),
  )
  assert.ok(!plan.some((node) => node['Node Type'].includes('Sort')), 'nothing is sorted')
  assert.ok(!plan.some((node) => node['Node Type'] === 'Bitmap Heap Scan'))
}

test('the list reads its rows in order from findings_by_creation, on the first page and on a later one', async () => {
  const all = { repositoryNos: null, provider: null }
  assertInOrder(await planOf(all), 'findings_by_creation')
  const after = { created_at: new Date(api.clock.now().getTime() - 2000), id: '00000000-0000-7000-8000-000000000000' }
  assertInOrder(await planOf(all, { after }), 'findings_by_creation')
})

test('narrowed to a repository it reads them from findings_by_repository', async () => {
  const [row] = await api.services.sql`select min(id) as id from reported_repositories where org_id = ${caller.orgId}`
  assertInOrder(await planOf({ repositoryNos: [row?.id], provider: null }), 'findings_by_repository')
})

test('narrowed to a provider it still reads them in order', async () => {
  assertInOrder(await planOf({ repositoryNos: null, provider: 'github' }), 'findings_by_creation')
})
