/** The object that a signed PUT address accepts: its size, checksum and content type. */
export interface ExpectedObject {
  sizeBytes: number
  /** 64 lowercase hex characters. */
  sha256: string
  contentType: string
}

/** An upload slot. The client must send `headers` exactly. */
export interface PresignedPut {
  url: string
  method: 'PUT'
  headers: Record<string, string>
  expires_at: Date
}

/**
 * A stored object. `sha256` (hex) is the checksum that the store verified; null if the store does
 * not know it.
 */
export interface StoredObject {
  sizeBytes: number
  sha256: string | null
}

/** Lifetime of a signed address (specification, "Limits"). */
export const ADDRESS_LIFETIME_MS = 15 * 60_000

/**
 * Stores files under keys that we choose, never a client: see `checkObjectKey`. Every method
 * throws for an invalid key. If two files are sent to one key, the one completed last replaces the
 * other. No key continues another (`a` and `a/b`), because a file cannot be a directory. If the
 * store is unreachable, methods throw `ApiError` 503 `unavailable`.
 */
export interface ObjectStore {
  /** Whether a PUT must have a `Content-Length`. Otherwise it may be chunked. */
  readonly requiresLength: boolean
  /**
   * Returns an address that accepts exactly the expected bytes, repeatedly, for 15 minutes from
   * `now`.
   */
  presignPut(key: string, expected: ExpectedObject, now: Date): Promise<PresignedPut>
  /**
   * Stores the body if it is as expected. Otherwise throws 400 or 413 and keeps what was stored
   * before.
   */
  write(key: string, expected: ExpectedObject, body: AsyncIterable<Uint8Array>): Promise<void>
  /** Returns null if nothing is stored. Does not read the object. */
  stat(key: string): Promise<StoredObject | null>
  /** Streams the bytes. Throws `ObjectNotFoundError` if nothing is stored. */
  read(key: string): AsyncIterable<Uint8Array>
  /** Removes the object if it exists. */
  remove(key: string): Promise<void>
  /** Removes the remains of transfers that were aborted long ago. */
  sweep(now: Date): Promise<void>
  /** Throws if an object cannot be stored right now. */
  check(): Promise<void>
}

export class ObjectNotFoundError extends Error {
  constructor(key: string) {
    super(`No object is stored under ${key}.`)
  }
}

const KEY = /^[A-Za-z0-9_-]{1,64}(?:\/[A-Za-z0-9_-]{1,64}){0,7}$/

/**
 * Requires one to eight segments of letters, digits, `_` and `-`, separated by `/`. Without dots,
 * empty segments and escapes, a key cannot leave the directory of the store or name its own files.
 */
export function checkObjectKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`This is not an object key: ${JSON.stringify(key.slice(0, 100))}`)
}
