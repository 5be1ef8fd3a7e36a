import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { type AuthenticServices, checkKey, type RowBreak } from './authentic-key.ts'
import { checkStatement } from './authentic-statement.ts'
import { authenticateRows } from './authenticate-rows.ts'
import { listAllKeys } from './signing-key.store.ts'
import { listAllStatements } from './statement.store.ts'

type Scope = {
  /** Only this organization. */
  orgId?: string | null
  stopping?: AbortSignal | undefined
  /** The verification ends after so many statements. */
  statementsMax?: number
}

/** Whether all statements were verified, and which rows are not authentic. */
export type RowsVerified = { keys: number; statements: number; breaks: RowBreak[]; isComplete: boolean }

/** Verifies signing keys and issued statements: their rows, and the signatures of the envelopes. */
export async function verifyRows(
  services: AuthenticServices,
  { orgId = null, stopping, statementsMax = Number.POSITIVE_INFINITY }: Scope = {},
): Promise<RowsVerified> {
  const found = new Map<string, RowBreak>()
  const keep = (one: RowBreak | null) => one && found.set(`${one.org_id} ${one.part} ${one.resource}`, one)
  const total = { keys: 0, statements: 0, isComplete: true }
  for await (const key of listAllKeys(services.sql, orgId)) {
    keep(await checkKey(services, key.org_id, key))
    total.keys += 1
  }
  for await (const row of listAllStatements(services.sql, orgId)) {
    stopping?.throwIfAborted()
    total.isComplete = total.statements < statementsMax
    if (!total.isComplete) break
    keep(await checkStatement(services, row, row))
    total.statements += 1
  }
  return { ...total, breaks: [...found.values()] }
}

/**
 * Once a day, before the log is verified. After an upgrade, it first authenticates what an earlier
 * version has stored.
 */
export const verifyRowsDaily = defineScheduledJob<Services>('provenance.verify-statements', {
  class: 'bulk',
  schedule: '11 3 * * *',
  async run(services, _payload, stopping): Promise<void> {
    await authenticateRows(services, stopping)
    const { breaks, ...counts } = await verifyRows(services, { stopping })
    for (const found of breaks) services.log.error(found, 'A row of the provenance was not stored by this server')
    if (breaks.length === 0) services.log.info(counts, 'The signing keys and issued statements were verified')
  },
})
