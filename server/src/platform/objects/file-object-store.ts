import { type KeyObject, randomUUID } from 'node:crypto'
import { open, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openToken, sealToken } from '../crypto/token.ts'
import { makeDirectory, toNullIfMissing } from '../files.ts'
import { createUnavailableError } from '../http/errors.ts'
import { invalidSignature, urlExpired } from './errors.ts'
import {
  describeObjectFile,
  getIncomingDirectory,
  readObjectFile,
  removeStaleTemporaryFiles,
  writeObjectFile,
} from './object-file.ts'
import {
  ADDRESS_LIFETIME_MS,
  checkObjectKey,
  type ExpectedObject,
  ObjectNotFoundError,
  type ObjectStore,
  type PresignedPut,
  type StoredObject,
} from './object-store.ts'

interface FileObjectStoreOptions {
  /** A directory for this store's files only. */
  directory: string
  /** The address by which clients reach the server, without a slash at its end. */
  baseUrl: string
  signingKey: KeyObject
}

/** Opens the store and creates its directory. Call it once per process, at start. */
export async function openFileObjectStore(options: FileObjectStoreOptions): Promise<FileObjectStore> {
  await makeDirectory(getIncomingDirectory(options.directory), 0o700)
  return new FileObjectStore(options)
}

/** Stores objects as files. Clients PUT to the server itself, at signed addresses. */
export class FileObjectStore implements ObjectStore {
  readonly requiresLength = false
  readonly #root: string
  readonly #baseUrl: string
  readonly #signingKey: KeyObject

  constructor({ directory, baseUrl, signingKey }: FileObjectStoreOptions) {
    this.#root = resolve(directory)
    this.#baseUrl = baseUrl
    this.#signingKey = signingKey
  }

  async presignPut(key: string, expected: ExpectedObject, now: Date): Promise<PresignedPut> {
    checkObjectKey(key)
    const { sizeBytes, sha256, contentType } = expected
    const grant: PutGrant = { method: 'PUT', key, expected: { sizeBytes, sha256, contentType } }
    return {
      method: 'PUT',
      headers: getPutHeaders(expected),
      ...sealAddress(this.#signingKey, this.#baseUrl, grant, now),
    }
  }

  /** Verifies the token of a PUT address. Throws 403 if it is invalid or expired. */
  openPut(token: unknown, now: Date): PutGrant {
    return openAddress(this.#signingKey, token, now)
  }

  /** `written` is called with each chunk that is not needed any more. */
  async write(
    key: string,
    expected: ExpectedObject,
    chunks: AsyncIterable<Uint8Array>,
    written: (chunk: Uint8Array) => void = () => {},
  ): Promise<void> {
    await requireAvailable(writeObjectFile(this.#root, this.#path(key), expected, { chunks, written }))
  }

  async stat(key: string): Promise<StoredObject | null> {
    await using file = await this.#open(key)
    return file && (await requireAvailable(describeObjectFile(file)))
  }

  async *read(key: string): AsyncIterable<Uint8Array> {
    await using file = await this.#open(key)
    if (!file) throw new ObjectNotFoundError(key)
    const { sizeBytes } = await requireAvailable(describeObjectFile(file))
    yield* readObjectFile(file, sizeBytes)
  }

  async remove(key: string): Promise<void> {
    await requireAvailable(rm(this.#path(key), { force: true }))
  }

  async sweep(now: Date): Promise<void> {
    await requireAvailable(removeStaleTemporaryFiles(this.#root, now))
  }

  async check(): Promise<void> {
    const probe = join(getIncomingDirectory(this.#root), randomUUID())
    await requireAvailable(writeFile(probe, 'x', { flag: 'wx' }))
    await requireAvailable(rm(probe, { force: true }))
  }

  #path(key: string): string {
    checkObjectKey(key)
    return join(this.#root, key)
  }

  #open(key: string) {
    return requireAvailable(toNullIfMissing(open(this.#path(key), 'r')))
  }
}

/**
 * Converts a failure of the disk (full, read-only, not permitted) to a 503 that does not reveal the
 * path.
 */
async function requireAvailable<Result>(operation: Promise<Result>): Promise<Result> {
  try {
    return await operation
  } catch (error) {
    const isRefusedBySystem = error instanceof Error && 'syscall' in error
    throw isRefusedBySystem ? createUnavailableError(error) : error
  }
}

/** The path of all object addresses. What an address permits is in its token, not in the path. */
export const STORAGE_PATH = '/storage/objects'

/** What an address permits. These names are part of the signed token. */
type PutGrant = { method: 'PUT'; key: string; expected: ExpectedObject }
type Sealed = PutGrant & { expires_at_ms: number }

/** Returns an address with this grant and the time of its expiry. */
function sealAddress(signingKey: KeyObject, baseUrl: string, grant: PutGrant, now: Date) {
  const expires_at = new Date(now.getTime() + ADDRESS_LIFETIME_MS)
  const token = sealToken(signingKey, { ...grant, expires_at_ms: expires_at.getTime() } satisfies Sealed)
  return { url: `${baseUrl}${STORAGE_PATH}?token=${token}`, expires_at }
}

/** Returns what the token permits. Throws 403 `invalid_signature` or `url_expired`. */
function openAddress(signingKey: KeyObject, token: unknown, now: Date): PutGrant {
  const grant = typeof token === 'string' ? openToken<Sealed>(signingKey, token) : null
  if (grant?.method !== 'PUT')
    throw invalidSignature(
      'The URL is not valid for this request. Send the request to the URL exactly as it was returned.',
    )
  if (grant.expires_at_ms <= now.getTime()) throw urlExpired()
  return grant
}

export const CHECKSUM_HEADER = 'x-storage-checksum-sha256'

/** Headers that clients must send with a PUT, exactly (specification, "Security upload"). */
export function getPutHeaders({ contentType, sha256 }: ExpectedObject): Record<string, string> {
  return { 'Content-Type': contentType, [CHECKSUM_HEADER]: Buffer.from(sha256, 'hex').toString('base64') }
}
