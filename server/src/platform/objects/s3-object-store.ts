import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { createUnavailableError } from '../http/errors.ts'
import {
  ADDRESS_LIFETIME_MS,
  checkObjectKey,
  type ExpectedObject,
  ObjectNotFoundError,
  type ObjectStore,
  type PresignedPut,
  type StoredObject,
} from './object-store.ts'
import { checkBody } from './verify-object.ts'

/** Contains a dot, so it cannot be an object's key. */
const PROBE_KEY = '.shiplock-check'
const BUFFERED_BYTES_MAX = 4 * 1024 * 1024
/** A SHA-256 in base64. The checksum of a multipart upload ends in `-` and a number instead. */
const WHOLE_SHA256 = /^[A-Za-z0-9+/]{43}=$/

/** Stores objects in a bucket of an S3-compatible store. Clients PUT to it directly. */
export class S3ObjectStore implements ObjectStore {
  readonly requiresLength = true
  readonly #s3: S3Client
  readonly #bucket: string

  constructor(options: S3StoreOptions) {
    this.#s3 = createS3Client(options)
    this.#bucket = options.bucket
  }

  async presignPut(key: string, expected: ExpectedObject, now: Date): Promise<PresignedPut> {
    return signPut(this.#s3, this.#location(key), expected, now)
  }

  async write(key: string, expected: ExpectedObject, body: AsyncIterable<Uint8Array>): Promise<void> {
    const { sizeBytes, sha256, contentType } = expected
    const checked = checkBody(body, expected)
    const refused = new AbortController()
    const put = new PutObjectCommand({
      ...this.#location(key),
      ContentLength: sizeBytes,
      ContentType: contentType,
      ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
      // Only a body in memory can be sent again after a failure.
      Body: sizeBytes <= BUFFERED_BYTES_MAX ? await buffer(checked) : toStream(checked, refused),
    })
    const sent = requireAvailable(this.#s3.send(put, { abortSignal: refused.signal }))
    await sent.catch((failure) => Promise.reject(refused.signal.aborted ? refused.signal.reason : failure))
  }

  async stat(key: string): Promise<StoredObject | null> {
    const head = new HeadObjectCommand({ ...this.#location(key), ChecksumMode: 'ENABLED' })
    const answer = await requireAvailable(toNullIfAbsent(this.#s3.send(head)))
    if (!answer) return null
    const { ContentLength: sizeBytes, ChecksumSHA256: checksum = '' } = answer
    if (sizeBytes === undefined) throw toS3Failure(new Error('the response has no Content-Length'))
    const sha256 = WHOLE_SHA256.test(checksum) ? Buffer.from(checksum, 'base64').toString('hex') : null
    return { sizeBytes, sha256 }
  }

  async *read(key: string): AsyncIterable<Uint8Array> {
    const body = await this.#open(key)
    try {
      yield* body
    } catch (error) {
      throw toS3Failure(error)
    }
  }

  /** S3 responds alike whether the object existed or not. */
  async remove(key: string): Promise<void> {
    await requireAvailable(toNullIfAbsent(this.#s3.send(new DeleteObjectCommand(this.#location(key)))))
  }

  /** Does nothing: an object appears when it is complete, and we start no multipart uploads. */
  async sweep(): Promise<void> {}

  /** Writes an object, because a bucket that is readable may not be writable. */
  async check(): Promise<void> {
    await requireAvailable(this.#s3.send(new PutObjectCommand({ Bucket: this.#bucket, Key: PROBE_KEY, Body: 'x' })))
  }

  /** Yields the body. Closes the connection when its reader stops early. */
  async #open(key: string): Promise<AsyncIterable<Uint8Array>> {
    const answer = await requireAvailable(toNullIfAbsent(this.#s3.send(new GetObjectCommand(this.#location(key)))))
    if (!answer) throw new ObjectNotFoundError(key)
    return answer.Body as AsyncIterable<Uint8Array>
  }

  #location(key: string) {
    checkObjectKey(key)
    return { Bucket: this.#bucket, Key: key }
  }
}

/** A body that fails ends its request: the SDK would wait for the rest of it. */
function toStream(body: AsyncIterable<Uint8Array>, refused: AbortController): Readable {
  return Readable.from(body).on('error', (error) => refused.abort(error))
}

type ObjectLocation = { Bucket: string; Key: string }

/** S3's checksum header. It is signed, so the store compares it with the body that arrives. */
const CHECKSUM_HEADER = 'x-amz-checksum-sha256'

/**
 * By default the SDK moves the checksum to the query, where clients need not send it, and does not
 * sign the type.
 */
const AS_SIGNED_HEADERS = {
  unhoistableHeaders: new Set([CHECKSUM_HEADER]),
  signableHeaders: new Set(['content-type']),
}

/** Presigns a PUT for exactly the expected bytes: length, type and SHA-256 are signed headers. */
async function signPut(
  s3: S3Client,
  location: ObjectLocation,
  expected: ExpectedObject,
  now: Date,
): Promise<PresignedPut> {
  const { sizeBytes, sha256, contentType } = expected
  const checksum = Buffer.from(sha256, 'hex').toString('base64')
  const put = new PutObjectCommand({
    ...location,
    ContentLength: sizeBytes,
    ContentType: contentType,
    ChecksumSHA256: checksum,
  })
  const expiresIn = ADDRESS_LIFETIME_MS / 1000
  const url = await getSignedUrl(s3, put, { ...AS_SIGNED_HEADERS, signingDate: now, expiresIn })
  const headers = { 'Content-Type': contentType, [CHECKSUM_HEADER]: checksum }
  return { method: 'PUT', url, headers, expires_at: new Date(now.getTime() + ADDRESS_LIFETIME_MS) }
}

export interface S3StoreOptions {
  /** null: Amazon's endpoint of the region. */
  endpoint: string | null
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Use `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  forcePathStyle: boolean
  answerTimeoutMs?: number
}

const CONNECT_TIMEOUT_MS = 2_000
/** Applies until the first byte of the response. A body may take longer while it keeps arriving. */
const ANSWER_TIMEOUT_MS = 5_000
const SILENCE_TIMEOUT_MS = 60_000
const ATTEMPTS_MAX = 3

/**
 * Configured by the options only, not by environment variables or files of the SDK. Idle
 * connections do not keep the process alive, so there is nothing to close.
 */
export function createS3Client(options: S3StoreOptions): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey, forcePathStyle } = options
  const { answerTimeoutMs = ANSWER_TIMEOUT_MS } = options
  return new S3Client({
    ...(endpoint === null ? {} : { endpoint }),
    ignoreConfiguredEndpointUrls: true,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    // By default the SDK signs an additional CRC-32, which clients would have to send with a PUT.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    retryMode: 'standard',
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: answerTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_TIMEOUT_MS,
    },
  })
}

const MESSAGE_CHARS_MAX = 300

/** Returns the request's result. Throws 503 `unavailable` for every failure. */
export async function requireAvailable<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request
  } catch (error) {
    throw toS3Failure(error)
  }
}

/** Returns the request's result, or null if the object does not exist. Rethrows other failures. */
async function toNullIfAbsent<Result>(request: Promise<Result>): Promise<Result | null> {
  try {
    return await request
  } catch (error) {
    // Responses to HEAD have no body and contain `NotFound` instead of `NoSuchKey`. A missing
    // bucket is a failure.
    const isAbsent = error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound')
    if (isAbsent) return null
    throw error
  }
}

/**
 * Converts every failure of the store to a 503, because the caller did nothing wrong. The cause is
 * rewritten: the errors of the SDK contain the whole response, which may repeat key ids and
 * signatures.
 */
function toS3Failure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const status = error instanceof S3ServiceException ? ` (HTTP ${error.$metadata.httpStatusCode})` : ''
  const code = 'code' in error ? ` ${error.code}` : ''
  const message = error.message.slice(0, MESSAGE_CHARS_MAX)
  return createUnavailableError(new Error(`The object store failed: ${error.name}${code}${status}: ${message}`))
}
