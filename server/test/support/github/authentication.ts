import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto'
import { HttpError } from '../hosts/http-error.ts'
import type { Installation } from './types.ts'
import type { GitHubWorld } from './world.ts'

export type Caller = { type: 'app' } | { type: 'installation'; installation: Installation } | { type: 'nobody' }

const TOKEN_LIFETIME_MS = 60 * 60_000
/**
 * https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app: a JWT is valid
 * for 10 minutes at most, and the token of an installation for an hour.
 */
const JWT_LIFETIME_MAX_S = 600

let firstKey: string | undefined

/** A private key of an App, in PEM. */
export function newPrivateKey(): string {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }).privateKey
}

/** The first key of every fake of this process, because making one takes time. */
export function sharedPrivateKey(): string {
  firstKey ??= newPrivateKey()
  return firstKey
}

export function publicKeyOf(privateKey: string): KeyObject {
  return createPublicKey(privateKey)
}

/** Who sends a request: the App with a token that it signed, or an installation with its token. */
export class Authentication {
  readonly #world: GitHubWorld
  readonly #tokens = new Map<string, { installation: Installation; expires_at: Date }>()

  constructor(world: GitHubWorld) {
    this.#world = world
  }

  issueToken(installation: Installation): { token: string; expires_at: Date } {
    if (installation.suspended_at !== null) throw suspended()
    const token = `ghs_${randomBytes(18).toString('hex')}`
    const expires_at = new Date(Date.now() + TOKEN_LIFETIME_MS)
    this.#tokens.set(token, { installation, expires_at })
    return { token, expires_at: new Date(Math.floor(expires_at.getTime() / 1000) * 1000) }
  }

  /** Makes all tokens of installations invalid. */
  expireTokens(): void {
    this.#tokens.clear()
  }

  callerOf(header: string | undefined): Caller {
    if (header === undefined) return { type: 'nobody' }
    const token = header.replace(/^(?:bearer|token)\s+/i, '')
    return token.split('.').length === 3 ? this.#app(token) : this.#installation(token)
  }

  #installation(token: string): Caller {
    const known = this.#tokens.get(token)
    if (known === undefined || known.expires_at.getTime() <= Date.now()) throw new HttpError(401, 'Bad credentials')
    if (!this.#world.installations.has(known.installation.id)) throw new HttpError(401, 'Bad credentials')
    if (known.installation.suspended_at !== null) throw suspended()
    return { type: 'installation', installation: known.installation }
  }

  #app(token: string): Caller {
    const [head, claims, signature] = token.split('.') as [string, string, string]
    const { app } = this.#world
    const isSigned = app.publicKeys.some((key) =>
      verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')),
    )
    if (!isSigned) throw new HttpError(401, 'A JSON web token could not be decoded')
    const { iat, exp, iss } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const now = Math.floor(Date.now() / 1000)
    if (iat > now + 5) throw invalidClaim('iat', 'Issued at', 'is in the future')
    if (exp <= now) throw invalidClaim('exp', 'Expiration time', 'is in the past')
    if (exp - now > JWT_LIFETIME_MAX_S) throw invalidClaim('exp', 'Expiration time', 'is too far in the future')
    if (String(iss) !== String(app.id)) throw new HttpError(404, 'Integration not found')
    return { type: 'app' }
  }
}

function invalidClaim(claim: string, name: string, text: string): HttpError {
  return new HttpError(401, `'${name}' claim ('${claim}') ${text}`)
}

function suspended(): HttpError {
  return new HttpError(403, 'This installation has been suspended')
}
