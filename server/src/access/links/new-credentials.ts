import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { registerPasskey, verifyNewPasskey } from '../sign-in/register-passkey.ts'
import { hashNewPassword, savePassword } from '../sign-in/set-password.ts'

/** How a person wants to sign in from now on: by a password, a passkey, or both. */
export type NewCredentials = {
  password?: string | undefined
  passkey?: { name: string; credential: RegistrationResponseJSON } | undefined
}

type Owner = { id: string; email: string; name: string }

/** Stores the credentials of a user that is stored already. */
type StoreCredentials = (tx: Tx, now: Date) => Promise<void>

/**
 * Hashes and verifies outside of the transaction that stores the credentials, because this takes
 * long. Throws 400 `weak_password`, `passkey_refused`, or `invalid_request` if there are none.
 */
export async function verifyNewCredentials(
  services: Services,
  owner: Owner,
  { password, passkey }: NewCredentials,
): Promise<StoreCredentials> {
  if (password === undefined && passkey === undefined) throw createInvalidFieldError('/body/password', 'is required')
  const hash = password === undefined ? null : await hashNewPassword(password, owner)
  const verified = passkey === undefined ? null : await verifyNewPasskey(services, owner.id, passkey.credential)
  return async (tx, now) => {
    if (hash !== null) await savePassword(tx, owner.id, hash, { now })
    if (passkey && verified) await registerPasskey(tx, owner.id, { passkey: verified, name: passkey.name, now })
  }
}
