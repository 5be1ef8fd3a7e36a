import { type KeyObject, randomUUID } from 'node:crypto'
import { open, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeDirectory, toNullIfMissing } from '../files.ts'
import { createUnavailableError } from '../http/errors.ts'
import {
  describeObjectFile,
  getIncomingDirectory,
  readObjectFile,
  removeStaleTemporaryFiles,
  writeObjectFile,
} from './object-file.ts'
import {
  checkObjectKey,
  type ExpectedObject,
  ObjectNotFoundError,
  type ObjectStore,
  type PresignedPut,
  type StoredObject,
} from './object-store.ts'
import { getPutHeaders, openAddress, type PutGrant, sealAddress } from './signed-address.ts'

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
