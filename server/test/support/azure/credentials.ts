import { randomBytes } from 'node:crypto'
import { HttpError } from '../hosts/http-error.ts'
import type { Account } from '../hosts/types.ts'

/** The id of every client; their secrets differ. */
const CLIENT_ID = '00000000-1111-4222-8333-444444444444'

type Credential = { value: string; organization: Account }

/**
 * Personal access tokens and client secrets of an organization, and tokens that clients were given.
 */
export class Credentials {
  #own: Credential[] = []
  /** Each has the client secret that it was issued for. */
  #issued: (Credential & { secret: string })[] = []

  add(organization: Account): string {
    const value = randomBytes(20).toString('hex')
    this.#own.push({ value, organization })
    return value
  }

  get clientId(): string {
    return CLIENT_ID
  }

  /** A token for a client. */
  issue(clientId: string, secret: string): string {
    const known = this.#own.find(({ value }) => value === secret)
    if (known === undefined || clientId !== CLIENT_ID)
      throw new HttpError(401, 'AADSTS7000215: Invalid client secret provided')
    const value = randomBytes(20).toString('hex')
    this.#issued.push({ value, organization: known.organization, secret })
    return value
  }

  ownerOf(token: string | null): Account | null {
    return [...this.#own, ...this.#issued].find(({ value }) => value === token)?.organization ?? null
  }

  /** Tokens of clients end, as after their time, and can be asked for again. */
  expireTokens(): void {
    this.#issued = []
  }

  /** `keep`: how many of the newest stay. */
  revoke(organization: Account, keep: number): void {
    const its = this.#own.filter((one) => one.organization === organization)
    const gone = new Set(its.slice(0, its.length - keep).map(({ value }) => value))
    this.#own = this.#own.filter(({ value }) => !gone.has(value))
    this.#issued = this.#issued.filter(({ secret }) => !gone.has(secret))
  }
}
