import { notSignedIn, signInFailed } from '../../errors/sign-in.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import type { SignInMethod } from '../sessions/session.store.ts'

/** What shows who a person is. */
export type Proof = {
  userId: string
  method: SignInMethod
  /**
   * Stores that the proof was used, in the transaction of the session. Returns false if the
   * password or the passkey has changed since it was verified.
   */
  settle(tx: Tx): Promise<boolean>
}

/** The same error for unknown accounts, disabled users and wrong passwords. */
export function createPasswordFailedError(): ApiError {
  return signInFailed('The email address or the password is wrong.')
}

export function createPasskeyFailedError(): ApiError {
  return signInFailed('The passkey was not accepted. Try again, or sign in another way.')
}

/** The session ended, or another request replaced its token, while the request was handled. */
export function createSessionEndedError(): ApiError {
  return notSignedIn('The session has ended. Sign in again.')
}
