import { storeFindings } from '../../../server/bench/stored-findings.ts'
import { storeHistory } from '../../../server/bench/stored-history.ts'
import { countIssueDay, countRunDays, upsertProgress } from '../../../server/src/trends/counted-days.store.ts'
import { countDeliveryDays } from '../../../server/src/trends/delivery.store.ts'
import { uploadReport } from '../../../server/test/support/reports.ts'
import { sarif, sarifResult } from '../../../server/test/support/sarif.ts'
import type { TestConsole } from './console.ts'

const DAY_MS = 86_400_000

/**
 * Gives the organization of the console findings and runs by SQL, up to the present: the clock of
 * the server is set to it. Their days are counted, as the jobs of a worker do.
 */
export async function storeMuch({ api, caller }: TestConsole, { findings, runs }: { findings: number; runs: number }) {
  const { sql, clock } = api.services
  api.clock.advance(Date.now() - clock.now().getTime())
  // With a report and runs, Home no longer shows the first steps.
  await uploadReport(api, caller, sarif([sarifResult('a')]))
  await withoutIndexes(api, () => storeFindings(sql, caller.orgId, findings, () => {}))
  await storeHistory(sql, caller.orgId, runs)
  api.clock.advance(Date.now() - clock.now().getTime())
  await countDays(api, caller.orgId)
}

/** Indexes that are made after the rows take a fraction of the time. */
async function withoutIndexes({ services: { sql } }: TestConsole['api'], fill: () => Promise<void>): Promise<void> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition
    from pg_indexes
    where tablename in ('findings', 'security_issues')
      and not exists (select from pg_constraint where conname = indexname)`
  for (const { name } of indexes) await sql`drop index ${sql(name)}`
  await fill()
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await tx`set local maintenance_work_mem = '512MB'`
    for (const { definition } of indexes) await tx.unsafe(definition)
  })
  await sql`analyze findings, security_issues`
}

async function countDays({ services: { sql, clock } }: TestConsole['api'], orgId: string): Promise<void> {
  const now = clock.now()
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
  const counted = { org_id: orgId, from: null, now }
  await sql.begin(async (tx) => {
    const runs = { ...counted, until: new Date(today.getTime() - 4 * DAY_MS) }
    await upsertProgress(tx, 'runs', runs)
    await countRunDays(tx, runs)
    const delivery = { ...counted, until: today }
    await upsertProgress(tx, 'delivery', delivery)
    await countDeliveryDays(tx, delivery)
  })
  await countIssueDay(sql, orgId, now)
}
