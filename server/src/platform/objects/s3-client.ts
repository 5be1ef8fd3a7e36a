import { S3Client } from '@aws-sdk/client-s3'

export interface S3StoreOptions {
  /** null: Amazon's own address of the region. */
  endpoint: string | null
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** `endpoint/bucket/key` and not `bucket.endpoint/key`. */
  forcePathStyle: boolean
  answerTimeoutMs?: number
}

const CONNECT_TIMEOUT_MS = 2_000
/** Until the first byte of the answer; a body may then take as long as it keeps coming. */
const ANSWER_TIMEOUT_MS = 5_000
const SILENCE_TIMEOUT_MS = 60_000
const ATTEMPTS_MAX = 3

/**
 * The options alone decide whom it asks and as whom, not what the SDK finds in the environment and in files of its own.
 * Its idle connections keep no process alive, so there is nothing to close.
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
    // By default the SDK adds a CRC-32 to what it signs, which a client that PUTs would have to send too.
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
