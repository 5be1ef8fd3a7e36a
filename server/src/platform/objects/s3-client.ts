import { S3Client } from '@aws-sdk/client-s3'

export interface S3Settings {
  /** null: Amazon's own address of the region. */
  endpoint: string | null
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** The bucket stands in the path and not in the host name, as most stores of one's own want it. */
  forcePathStyle: boolean
}

const CONNECT_TIMEOUT_MS = 2_000
/** Until the first byte of the answer; a body may then take as long as it keeps coming. */
const ANSWER_TIMEOUT_MS = 5_000
const SILENCE_TIMEOUT_MS = 60_000
const ATTEMPTS_MAX = 3

/**
 * Everything that the SDK would otherwise look for in the environment and in files of its own is said here: Shiplock's
 * settings alone decide. It holds no socket open that would keep a process alive.
 */
export function createS3Client({ endpoint, region, accessKeyId, secretAccessKey, forcePathStyle }: S3Settings): S3Client {
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
      requestTimeout: ANSWER_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_TIMEOUT_MS,
    },
  })
}
