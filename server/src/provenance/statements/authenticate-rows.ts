import type { Services } from '../../services.ts'
import { authenticateLog, completeMacs } from '../log/authenticate-log.ts'
import { findLogKey, hasRowsWithoutMac } from '../log/log.store.ts'
import { openLogKey } from '../log/log-key.ts'
import { hasMacs } from '../log/log-mac.ts'
import { computeKeyMac, isOwnKey } from './authentic-key.ts'
import { checkStatement, computeStatementMac } from './authentic-statement.ts'
import { listAllKeys, updateKeyMac } from './signing-key.store.ts'
import { listAllStatements, updateStatementMac } from './statement.store.ts'

/**
 * Authenticates what versions without macs have stored, once: keys whose private half is ours,
 * statements that such a key has signed, and the log that its own key has signed. What does not
 * verify gets no mac: it is refused from then on.
 */
export async function authenticateRows(services: Services, stopping?: AbortSignal): Promise<void> {
  const { sql, log } = services
  if (await hasMacs(services, sql)) return
  if ((await findLogKey(sql)) === null && !(await hasRowsWithoutMac(sql))) return
  await openLogKey(services)
  // First: a log that contradicts itself may have lost the entry that says that all rows have macs.
  if (!(await authenticateLog(services, stopping))) {
    log.error('The rows of the provenance are not authenticated, because the transparency log contradicts itself')
    return
  }
  await authenticateKeys(services)
  await authenticateStatements(services, stopping)
  await completeMacs(services)
  log.info('The rows of the provenance were authenticated')
}

async function authenticateKeys(services: Services): Promise<void> {
  for await (const key of listAllKeys(services.sql, null)) {
    if (key.mac !== null || !(await isOwnKey(services, key.org_id, key))) continue
    const mac = computeKeyMac(services.integrityKey, key.org_id, key)
    await updateKeyMac(services.sql, key.org_id, { ...key, mac })
  }
}

async function authenticateStatements(services: Services, stopping: AbortSignal | undefined): Promise<void> {
  for await (const row of listAllStatements(services.sql, null)) {
    stopping?.throwIfAborted()
    if (row.mac !== null || (await checkStatement(services, row, row)) !== null) continue
    const mac = computeStatementMac(services.integrityKey, row, row.facts, row)
    await updateStatementMac(services.sql, row, { facts: row.facts, mac })
  }
}
