import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser'
import { describeProblem } from '../page/states.tsx'

/** Options from the API. Its types and those of the library describe the same JSON (WebAuthn §5.1). */
type Options = { challenge: string }

/** Asks the browser to prove that the user has one of the passkeys. */
export async function askForPasskey(options: Options) {
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON
  const { clientExtensionResults: _, ...credential } = await startAuthentication({ optionsJSON })
  return { ...credential, type: 'public-key' as const }
}

/** Asks the browser to create a passkey. */
export async function createPasskey(options: Options) {
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON
  const { clientExtensionResults: _, ...credential } = await startRegistration({ optionsJSON })
  return { ...credential, type: 'public-key' as const }
}

/** A sentence about a passkey that could not be used or made. */
export function describePasskeyProblem(error: unknown): string {
  const cause = error instanceof WebAuthnError ? error.cause : error
  const name = cause instanceof Error ? cause.name : ''
  if (name === 'InvalidStateError') return 'This device already has a passkey of your account.'
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'The browser did not return a passkey: the request was cancelled, it timed out, or no passkey fits.'
  if (name === 'SecurityError') return 'Passkeys do not work at this address.'
  return error instanceof WebAuthnError ? 'The passkey could not be used.' : describeProblem(error)
}

/**
 * Why the browser cannot use passkeys at this address, or null if it can. Browsers bind passkeys to
 * names over https; of this machine, to `localhost`.
 */
export function passkeyObstacle(): string | null {
  const { hostname, port, protocol } = location
  if (hostname === '127.0.0.1' || hostname === '[::1]')
    return `To use a passkey, open this page at ${protocol}//localhost:${port}.`
  if (!window.isSecureContext) return 'To use a passkey, open this page over https.'
  return browserSupportsWebAuthn() ? null : 'This browser does not support passkeys.'
}
