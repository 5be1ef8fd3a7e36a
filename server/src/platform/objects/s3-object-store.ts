import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import {
  assertObjectKey,
  type ByteRange,
  type ExpectedObject,
  ObjectNotFoundError,
  type ObjectStore,
  type PresignedGet,
  type PresignedPut,
  type StoredObject,
} from './object-store.ts'
import { signGet, signPut } from './s3-address.ts'
import { createS3Client, type S3StoreOptions } from './s3-client.ts'
import { ignoreAbsent, isBehindTheEnd, orUnavailable, s3Failure } from './s3-errors.ts'

/** Has a dot, so it is no object's key. */
const PROBE_KEY = '.shiplock-check'
/** A SHA-256 in base64. A checksum of checksums, as multipart uploads have it, ends in `-` and a number instead. */
const WHOLE_SHA256 = /^[A-Za-z0-9+/]{43}=$/

/** Keeps objects in a bucket of an S3-compatible store, to which clients PUT directly. */
export class S3ObjectStore implements ObjectStore {
  readonly #s3: S3Client
  readonly #bucket: string

  constructor(options: S3StoreOptions) {
    this.#s3 = createS3Client(options)
    this.#bucket = options.bucket
  }

  async presignPut(key: string, expected: ExpectedObject, now: Date): Promise<PresignedPut> {
    return signPut(this.#s3, this.#place(key), expected, now)
  }

  async presignGet(key: string, filename: string, now: Date): Promise<PresignedGet> {
    return signGet(this.#s3, this.#place(key), filename, now)
  }

  async stat(key: string): Promise<StoredObject | null> {
    const head = new HeadObjectCommand({ ...this.#place(key), ChecksumMode: 'ENABLED' })
    const answer = await orUnavailable(ignoreAbsent(this.#s3.send(head)))
    if (!answer) return null
    if (answer.ContentLength === undefined) throw s3Failure(new Error('it does not say how long an object is'))
    return { sizeBytes: answer.ContentLength, sha256: sha256Of(answer.ChecksumSHA256) }
  }

  async *read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
    const isEmpty = range?.lengthBytes === 0 // which the header Range cannot say
    const body = isEmpty ? await this.#nothingOf(key) : await this.#open(key, range)
    try {
      yield* body
    } catch (error) {
      throw s3Failure(error)
    }
  }

  /** S3 answers a removal alike whether there was an object or not. */
  async remove(key: string): Promise<void> {
    await orUnavailable(ignoreAbsent(this.#s3.send(new DeleteObjectCommand(this.#place(key)))))
  }

  /** Nothing to do: an object appears when all of it has arrived, and we start no multipart uploads. */
  async sweep(): Promise<void> {}

  /** Writes, because a bucket that can be seen may still be one that cannot be written to. */
  async check(): Promise<void> {
    await orUnavailable(this.#s3.send(new PutObjectCommand({ Bucket: this.#bucket, Key: PROBE_KEY, Body: 'x' })))
  }

  /** The body, whose connection is closed when its reader stops early. */
  async #open(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    const get = new GetObjectCommand({ ...this.#place(key), ...(range && { Range: rangeHeader(range) }) })
    const answer = await orUnavailable(ignoreAbsent(this.#s3.send(get)).catch(nothingBehindTheEnd))
    if (!answer) throw new ObjectNotFoundError(key)
    return answer.Body as AsyncIterable<Uint8Array>
  }

  async #nothingOf(key: string): Promise<Uint8Array[]> {
    if (!(await this.stat(key))) throw new ObjectNotFoundError(key)
    return []
  }

  #place(key: string) {
    assertObjectKey(key)
    return { Bucket: this.#bucket, Key: key }
  }
}

/** RFC 9110 §14.1.2: both ends are inclusive. */
function rangeHeader({ offsetBytes, lengthBytes }: ByteRange): string {
  return `bytes=${offsetBytes}-${offsetBytes + lengthBytes - 1}`
}

function nothingBehindTheEnd(error: unknown): { Body: AsyncIterable<Uint8Array> } {
  if (isBehindTheEnd(error)) return { Body: Readable.from([]) }
  throw error
}

function sha256Of(checksum: string | undefined): string | null {
  return checksum && WHOLE_SHA256.test(checksum) ? Buffer.from(checksum, 'base64').toString('hex') : null
}
