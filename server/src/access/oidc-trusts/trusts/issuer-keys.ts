import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose'
import { MINUTE_MS } from '../../../platform/clock.ts'
import { CANNOT_BE_READ, type GuardedFetch, OutsideError } from '../../../platform/outbound/guarded-fetch.ts'
import type { Services } from '../../../services.ts'
import { buildDiscoveryUrl, isKeySetUrl } from '../issuer.ts'

/** Keys are read again after this time. */
const FRESH_MS = 60 * MINUTE_MS
/** Keys that cannot be read again are used for this time. */
const USABLE_MS = 24 * 60 * MINUTE_MS
/** The time between two attempts, after one has failed or because of unknown keys. */
const RETRY_MS = MINUTE_MS
/** The same, as long as there are no keys at all. */
const FIRST_RETRY_MS = 10_000

type Needs = Pick<Services, 'clock' | 'log' | 'outbound'>

/** The key sets of the issuers of live trusts, each read by itself. */
export class IssuerKeySets {
  readonly #byIssuer = new Map<string, IssuerKeys>()
  readonly #needs: Needs

  constructor(needs: Needs) {
    this.#needs = needs
  }

  of(issuer: string): IssuerKeys {
    const known = this.#byIssuer.get(issuer)
    if (known) return known
    const keys = new IssuerKeys(issuer, this.#needs)
    this.#byIssuer.set(issuer, keys)
    return keys
  }
}

/**
 * Reads the keys of one issuer as rarely as possible. Simultaneous calls share one request. A
 * failing issuer is not asked for every token.
 */
class IssuerKeys {
  readonly #issuer: string
  readonly #needs: Needs
  #keys: { find: LocalJWKSet; readAt: number } | null = null
  #location: { url: string; readAt: number } | null = null
  #reading: Promise<void> | null = null
  #failureAt: number | null = null
  #readings = 0
  #unknownKeyAt: number | null = null

  constructor(issuer: string, needs: Needs) {
    this.#issuer = issuer
    this.#needs = needs
  }

  /** How often the keys have been read. */
  get readings(): number {
    return this.#readings
  }

  /** The keys, which may be up to 24 hours old. Throws `IssuerError` if there are none. */
  async current(): Promise<LocalJWKSet> {
    if (this.#age() >= FRESH_MS && this.#mayRetry()) await this.#read()
    if (this.#keys !== null && this.#age() < USABLE_MS) return this.#keys.find
    throw new IssuerError()
  }

  /**
   * The keys after a token had a key that is not among them; null if they must not be read again
   * yet. `since` is the number of readings when the check of the token began: keys that were read
   * since then are new enough.
   */
  async afterUnknownKey(since: number): Promise<LocalJWKSet | null> {
    const now = this.#now()
    const isRecent = this.#unknownKeyAt !== null && Math.abs(now - this.#unknownKeyAt) < RETRY_MS
    if (this.#readings !== since) {
      if (!isRecent) this.#unknownKeyAt = now
      return this.#keys?.find ?? null
    }
    if (this.#reading === null && (isRecent || !this.#mayRetry())) return null
    this.#unknownKeyAt = now
    await this.#read()
    return this.#keys?.find ?? null
  }

  #now(): number {
    return this.#needs.clock.now().getTime()
  }

  #age(): number {
    return this.#keys === null ? Number.POSITIVE_INFINITY : Math.abs(this.#now() - this.#keys.readAt)
  }

  #mayRetry(): boolean {
    if (this.#reading !== null || this.#failureAt === null) return true
    const waitMs = this.#keys === null ? FIRST_RETRY_MS : RETRY_MS
    return Math.abs(this.#now() - this.#failureAt) >= waitMs
  }

  /** Never rejects: a failure is kept and logged. */
  #read(): Promise<void> {
    this.#reading ??= this.#fetch()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#reading = null
      })
    return this.#reading
  }

  async #fetch(): Promise<void> {
    const readAt = this.#now()
    if (this.#location === null || Math.abs(readAt - this.#location.readAt) >= FRESH_MS)
      this.#location = { url: await fetchKeySetUrl(this.#needs.outbound, this.#issuer), readAt }
    const find = createLocalJWKSet(await fetchKeySet(this.#needs.outbound, this.#location.url))
    this.#readings += 1
    this.#keys = { find, readAt }
    this.#failureAt = null
  }

  #fail(error: unknown): void {
    this.#location = null
    this.#failureAt = this.#now()
    // The reason of a failed request is in the log already.
    if (error instanceof OutsideError) return
    const reason = error instanceof Error ? error.message : String(error)
    this.#needs.log.warn({ issuer: this.#issuer, reason }, 'Could not read the keys of an issuer')
  }
}

const LIMITS = { timeoutMs: 5000, bytesMax: 1024 * 1024 }

/** An issuer's documents cannot be read. People see always the same, and the log has the reason. */
export class IssuerError extends Error {
  constructor() {
    super(`The keys of the issuer ${CANNOT_BE_READ}.`)
  }
}

/** Reads where an issuer has its keys (OpenID Connect Discovery §4). */
async function fetchKeySetUrl(outbound: GuardedFetch, issuer: string): Promise<string> {
  const url = buildDiscoveryUrl(issuer)
  const document = await fetchJson(outbound, url)
  if (document.issuer !== issuer) throw new Error(`${url} has another issuer.`)
  if (isKeySetUrl(document.jwks_uri)) return document.jwks_uri
  throw new Error(`${url} has no https URL in jwks_uri.`)
}

/** Reads a key set (RFC 7517 §5). */
async function fetchKeySet(outbound: GuardedFetch, url: string): Promise<JSONWebKeySet> {
  const document = await fetchJson(outbound, url)
  if (Array.isArray(document.keys)) return { keys: document.keys.filter(isObject) as JSONWebKeySet['keys'] }
  throw new Error(`${url} has no list of keys.`)
}

/** Reads a JSON object of at most 1 MiB within 5 s. */
async function fetchJson(outbound: GuardedFetch, url: string): Promise<Record<string, unknown>> {
  const response = await outbound.fetch(url, { headers: { accept: 'application/json' } }, LIMITS)
  if (response.status !== 200) throw new Error(`${url} responded with status ${response.status}.`)
  const document: unknown = await response.json()
  if (isObject(document)) return document
  throw new Error(`${url} is not a JSON object.`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
