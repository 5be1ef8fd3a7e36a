import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { foreignRow, rowAuthentic } from '../../errors/commands.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { requireNote } from '../chain/acknowledge-breaks.ts'
import { findEntry, listCheckpoints, updateCheckpointMac, updateEntryMacs } from '../log/log.store.ts'
import { loadLogKey } from '../log/log-key.ts'
import { computeCheckpointMac, computeEntryMac } from '../log/log-mac.ts'
import type { LogEntry } from '../log/tile.ts'
import { checkKey, computeKeyMac, isOwnKey } from './authentic-key.ts'
import { checkStatement } from './authentic-statement.ts'
import { listKeys, updateKeyMac } from './signing-key.store.ts'
import { deleteStatement, findStatement, type StatementName } from './statement.store.ts'

/** A row that is not as this server has stored it, as `provenance verify` names it. */
export type ForgedRow = { part: 'key' | 'statement' | 'log_entry' | 'checkpoint'; resource: string }

type Settle = (services: Services, tx: Tx, orgId: string, resource: string) => Promise<void>

/**
 * Each ends the break of one row. A statement is removed, and issued again when it is read next.
 * The other rows stay as they are, and count as authentic from then on.
 */
const SETTLE: Record<ForgedRow['part'], Settle> = {
  key: settleKey,
  statement: settleStatement,
  log_entry: settleEntry,
  checkpoint: settleCheckpoint,
}

/**
 * Records what happened to a row, and ends its break. Throws 400 for an invalid note, 409
 * `row_authentic` if there is no break, and 409 `foreign_row` for a key or checkpoint that is not
 * ours.
 */
export async function settleRow(
  services: Services,
  orgId: string,
  { part, resource }: ForgedRow,
  { principal, note }: { principal: Principal; note: string },
): Promise<void> {
  const reason = requireNote(note)
  const at = services.clock.now()
  await services.sql.begin(async (tx) => {
    await SETTLE[part](services, tx, orgId, resource)
    const entry = { principal, action: 'provenance.acknowledge', object: { type: part, id: resource }, reason }
    await insertAuditEntry(tx, orgId, entry, at)
  })
}

/** Nobody can vouch for a key that neither the secret key opens nor AWS KMS keeps. */
async function settleKey(services: Services, tx: Tx, orgId: string, resource: string): Promise<void> {
  const key = (await listKeys(tx, orgId)).find(({ keyid }) => keyid === resource)
  if (key === undefined || (await checkKey(services, orgId, key)) === null) throw rowAuthentic('key', resource)
  if (key.kms_key === null && !(await isOwnKey(services, orgId, key))) throw foreignRow('key', resource)
  await updateKeyMac(tx, orgId, { ...key, mac: computeKeyMac(services.integrityKey, orgId, key) })
}

async function settleStatement(services: Services, tx: Tx, org_id: string, resource: string): Promise<void> {
  const [kind, subject_id = '', hex = ''] = resource.split('/')
  const name = { org_id, kind, subject_id } as StatementName
  const row = await findStatement(tx, name, Buffer.from(hex, 'hex'))
  if (row === null || (await checkStatement(services, name, row)) === null) throw rowAuthentic('statement', resource)
  await deleteStatement(tx, name, row.facts)
}

async function settleEntry({ integrityKey }: Services, tx: Tx, _orgId: string, resource: string): Promise<void> {
  const [kind, hex = ''] = resource.split('/')
  const entry = { kind, sha256: Buffer.from(hex, 'hex') } as LogEntry
  const mac = computeEntryMac(integrityKey, entry)
  const found = await findEntry(tx, entry)
  if (found === null || found.entry_mac?.equals(mac)) throw rowAuthentic('log_entry', resource)
  await updateEntryMacs(tx, [{ ...entry, mac }])
}

async function settleCheckpoint(services: Services, tx: Tx, _orgId: string, resource: string): Promise<void> {
  const size = Number(resource)
  const [checkpoint] = Number.isSafeInteger(size) && size >= 0 ? await listCheckpoints(tx, size - 1, size) : []
  const key = await loadLogKey(services)
  if (checkpoint === undefined || key === null) throw rowAuthentic('checkpoint', resource)
  const mac = computeCheckpointMac(services.integrityKey, checkpoint)
  if (checkpoint.note !== key.signCheckpoint(size, checkpoint.root_hash)) throw foreignRow('checkpoint', resource)
  if (checkpoint.mac?.equals(mac)) throw rowAuthentic('checkpoint', resource)
  await updateCheckpointMac(tx, { size, mac })
}
