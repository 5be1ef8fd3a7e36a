/** What a signed PUT address takes: these bytes, this many of them, sent under this type. */
export interface ExpectedObject {
  sizeBytes: number
  /** 64 lowercase hex characters. */
  sha256: string
  contentType: string
}

/** An upload slot as the client needs it. `headers` are to be sent exactly. */
export interface PresignedPut {
  url: string
  method: 'PUT'
  headers: Record<string, string>
  expires_at: Date
}

export interface PresignedGet {
  url: string
  expires_at: Date
}

/** What is stored. `sha256` (hex) is the one that the store itself checked, null when it cannot tell. */
export interface StoredObject {
  sizeBytes: number
  sha256: string | null
}

/** Part of an object. It ends with the object where that is shorter. */
export interface ByteRange {
  offsetBytes: number
  lengthBytes: number
}

/** How long a signed address works (specification, "Limits"). */
export const ADDRESS_LIFETIME_MS = 15 * 60_000

/**
 * Where files are kept. Keys are made by us, never by a client: see `object-key.ts`; a key that is not one is an error
 * in every method. A key names one file: where two are sent to it, the last one complete replaces the other as a whole.
 * No key goes on where another ends (`a` and `a/b`), for a file is no directory.
 * A store that cannot be reached is an `ApiError` 503 `unavailable`.
 */
export interface ObjectStore {
  /** An address that takes exactly the expected bytes, for 15 minutes from `now`, as often as they are sent. */
  presignPut(key: string, expected: ExpectedObject, now: Date): Promise<PresignedPut>
  /** An address that hands the object out as a download called `filename`, for 15 minutes from `now`. */
  presignGet(key: string, filename: string, now: Date): Promise<PresignedGet>
  /** Null when nothing is stored. Does not read the object. */
  stat(key: string): Promise<StoredObject | null>
  /** The bytes as a stream. Throws `ObjectNotFoundError` when nothing is stored. */
  read(key: string, range?: ByteRange): AsyncIterable<Uint8Array>
  /** Removes the object; nothing happens when there is none. */
  remove(key: string): Promise<void>
  /** Removes what transfers that broke off long ago left behind. */
  sweep(now: Date): Promise<void>
  /** Throws when an object could not be stored right now. */
  check(): Promise<void>
}

export class ObjectNotFoundError extends Error {
  constructor(key: string) {
    super(`No object is stored under ${key}.`)
  }
}

const KEY = /^[A-Za-z0-9_-]{1,64}(?:\/[A-Za-z0-9_-]{1,64}){0,7}$/

/**
 * Refuses what is not one to eight segments of letters, digits, `_` and `-`, with `/` between them. Without dots, empty
 * segments and escapes a key cannot leave the store's directory, nor meet the store's own files, whose names have dots.
 */
export function assertObjectKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`Not an object key: ${JSON.stringify(key.slice(0, 100))}`)
}
