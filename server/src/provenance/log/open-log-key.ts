import { generateKeyPairSync } from 'node:crypto'
import { openSealedText, sealText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import { findLogKey, insertCheckpoint, insertLogKey, lockLog } from './log.store.ts'
import { getLogOrigin, LogKey } from './log-key.ts'
import { EMPTY_ROOT } from './merkle-tree.ts'

/** The key of the log. Creates the log on first use. */
export async function openLogKey(services: Services): Promise<LogKey> {
  return (await loadLogKey(services)) ?? (await createLog(services))
}

/** The key of the log, or null if the log does not exist yet. */
export async function loadLogKey({ sql, sealingKey }: Pick<Services, 'sql' | 'sealingKey'>): Promise<LogKey | null> {
  const stored = await findLogKey(sql)
  if (stored === null) return null
  const { origin, sealed_private_key } = stored
  return new LogKey(origin, openSealedText(sealingKey, formatLabel(origin), sealed_private_key))
}

/** Stores a new key and the checkpoint of the empty log, unless another process has done it. */
async function createLog(services: Services): Promise<LogKey> {
  const { sql, config, clock, sealingKey } = services
  const origin = getLogOrigin(config.baseUrl)
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const key = new LogKey(origin, pem)
  await sql.begin(async (tx) => {
    await lockLog(tx)
    if ((await findLogKey(tx)) !== null) return
    await insertLogKey(tx, { origin, sealed_private_key: sealText(sealingKey, formatLabel(origin), pem) }, clock.now())
    const empty = { size: 0, root_hash: EMPTY_ROOT, note: key.signCheckpoint(0, EMPTY_ROOT) }
    await insertCheckpoint(tx, empty, clock.now())
  })
  return (await loadLogKey(services)) as LogKey
}

function formatLabel(origin: string): string {
  return `log key ${origin}`
}
