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

/** Contains a dot, so it cannot be an object's key. */
const PROBE_KEY = '.shiplock-check'
/** A SHA-256 in base64. The checksum of a multipart upload ends in `-` and a number instead. */
const WHOLE_SHA256 = /^[A-Za-z0-9+/]{43}=$/

/** Stores objects in a bucket of an S3-compatible store. Clients PUT to it directly. */
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
    if (answer.ContentLength === undefined) throw s3Failure(new Error('the response has no Content-Length'))
    return { sizeBytes: answer.ContentLength, sha256: sha256Of(answer.ChecksumSHA256) }
  }

  async *read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
    const isEmpty = range?.lengthBytes === 0 // which the header Range cannot express
    const body = isEmpty ? await this.#nothingOf(key) : await this.#open(key, range)
    try {
      yield* body
    } catch (error) {
      throw s3Failure(error)
    }
  }

  /** S3 responds alike whether the object existed or not. */
  async remove(key: string): Promise<void> {
    await orUnavailable(ignoreAbsent(this.#s3.send(new DeleteObjectCommand(this.#place(key)))))
  }

  /** Does nothing: an object appears when it is complete, and we start no multipart uploads. */
  async sweep(): Promise<void> {}

  /** Writes an object, because a bucket that is readable may not be writable. */
  async check(): Promise<void> {
    await orUnavailable(this.#s3.send(new PutObjectCommand({ Bucket: this.#bucket, Key: PROBE_KEY, Body: 'x' })))
  }

  /** Yields the body. Closes the connection when its reader stops early. */
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

/** Both ends are inclusive (RFC 9110 §14.1.2). */
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
