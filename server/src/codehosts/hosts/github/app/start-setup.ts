import { createHash } from 'node:crypto'
import type { Config } from '../../../../config.ts'
import { alreadyConfigured } from '../../../../errors/codehosts.ts'
import { type Clock, MINUTE_MS } from '../../../../platform/clock.ts'
import { createRandomBase62 } from '../../../../platform/crypto/token.ts'
import type { Db } from '../../../../platform/db/sql.ts'
import { invalidRequest } from '../../../../platform/http/errors.ts'
import type { AppSetupOptions } from '../../../code-host.ts'
import { insertSetup } from './app.store.ts'
import { SETUP_PATH } from './app-manifest.ts'

const STATE_CHARS = 43
const SETUP_MS = 60 * MINUTE_MS
/** The form of logins of organizations. */
const LOGIN = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?$/

/**
 * Starts a manifest flow. Returns the address of our server that begins it, which works once and
 * for an hour. Throws 400 for an invalid login, and 409 if the environment names an App.
 */
export async function startSetup(
  { config, sql, clock }: { config: Config; clock: Clock; sql: Db },
  options: AppSetupOptions,
) {
  if (config.hostApps.github) {
    const message =
      'SHIPLOCK_GITHUB_APP_ID names the App, and takes precedence. Remove the setting to create another App.'
    throw alreadyConfigured(message)
  }
  if (options.organization !== null && !LOGIN.test(options.organization))
    throw invalidRequest('The organization must be the login of an organization on GitHub')
  const state = createRandomBase62(STATE_CHARS)
  const now = clock.now()
  const expires_at = new Date(now.getTime() + SETUP_MS)
  await insertSetup(sql, { state_sha256: hashState(state), options, created_at: now, expires_at })
  return { url: `${config.baseUrl}${SETUP_PATH}?state=${state}`, expires_at }
}

/** Only the digest of a state is stored, because the state is a permission. */
export function hashState(state: string): Buffer {
  return createHash('sha256').update(state).digest()
}
