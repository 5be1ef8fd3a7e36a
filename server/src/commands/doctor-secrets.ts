import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { readKmsPublicKey } from '../provenance/keys/kms-key.ts'
import { loadLogKey } from '../provenance/log/open-log-key.ts'
import type { Services } from '../services.ts'
import type { Check, Result } from './doctor-finding.ts'

const OTHERS = 0o077

/** A key that was stored with the secret key shows whether it is still the same one. */
export async function checkSecretKey(services: Services): Promise<Result> {
  await loadLogKey(services)
  const { secretKey, dataDir } = services.config
  if (secretKey !== null) return { ok: true, detail: 'SHIPLOCK_SECRET_KEY opens what is stored' }
  const path = join(dataDir, 'secret-key')
  const mode = (await stat(path)).mode & 0o777
  if ((mode & OTHERS) !== 0) return { ok: false, detail: `others can read ${path} (its mode is ${mode.toString(8)})` }
  return { ok: true, detail: `${path} opens what is stored` }
}

/** The check of the key in AWS KMS, if there is one. */
export function defineKmsChecks({ signingKmsKey: name }: Config): Check[] {
  if (name === null) return []
  const examine = async () => {
    await readKmsPublicKey(name)
    return { ok: true, detail: `the key ${name} in AWS KMS can be read` }
  }
  return [{ check: 'signing key', examine }]
}
