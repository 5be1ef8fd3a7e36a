import { randomBytes } from 'node:crypto'
import { HttpError } from './http-error.ts'
import type { Account } from './types.ts'

/** What a token belongs to, and until when it is valid. */
export type Token = { value: string; owner: Account; expires_at: Date | null }

/** A client of OAuth that asks for tokens. */
export type OauthClient = { id: string; secret: string; owner: Account }

/** The tokens and OAuth clients with which our program may read and change one account each. */
export class Tokens {
  readonly #prefix: string
  readonly #tokens = new Map<string, Token>()
  readonly #clients = new Map<string, OauthClient>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** `owner` is the group, workspace or organization that the token is for. */
  issue(owner: Account, lifetimeSeconds: number | null = null): Token {
    const expires_at = lifetimeSeconds === null ? null : new Date(Date.now() + lifetimeSeconds * 1000)
    const token = { value: `${this.#prefix}${randomBytes(15).toString('hex')}`, owner, expires_at }
    this.#tokens.set(token.value, token)
    return token
  }

  /** The account of a token. 401 if it is unknown, revoked or expired. */
  ownerOf(value: string | null | undefined): Account {
    const token = this.#tokens.get(value ?? '')
    if (token === undefined || (token.expires_at !== null && token.expires_at.getTime() <= Date.now()))
      throw new HttpError(401, 'Unauthorized')
    return token.owner
  }

  addClient(owner: Account, id: string): OauthClient {
    const client = { id, secret: `${this.#prefix}secret${randomBytes(15).toString('hex')}`, owner }
    this.#clients.set(client.secret, client)
    return client
  }

  /** 401 if the secret is not that of the client. */
  clientOf(id: string, secret: string): OauthClient {
    const client = this.#clients.get(secret)
    if (client === undefined || client.id !== id) throw new HttpError(401, 'Unauthorized')
    return client
  }

  /** Makes every token of an account invalid but the newest. */
  revokeOlder(owner: Account): void {
    const own = [...this.#tokens.values()].filter((token) => token.owner === owner)
    for (const { value } of own.slice(0, -1)) this.#tokens.delete(value)
  }

  /** Makes every token and client secret of an account invalid. */
  revoke(owner: Account): void {
    for (const [key, token] of this.#tokens) if (token.owner === owner) this.#tokens.delete(key)
    for (const [key, client] of this.#clients) if (client.owner === owner) this.#clients.delete(key)
  }
}

/** The token of `Authorization: Bearer`. */
export function bearerOf(header: string | undefined): string | null {
  return /^bearer\s+(.+)$/i.exec(header ?? '')?.[1] ?? null
}

/** User name and password of `Authorization: Basic`. */
export function basicOf(header: string | undefined): { user: string; password: string } | null {
  const encoded = /^basic\s+(.+)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return null
  const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
  return { user, password: rest.join(':') }
}
