import { S3Client } from '@aws-sdk/client-s3'

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
