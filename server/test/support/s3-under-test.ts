import type { S3StoreOptions } from '../../src/platform/objects/s3-object-store.ts'

/**
 * The S3 server that `npm run test:s3` started for all test files of its run; null in `npm test`.
 */
export const s3UnderTest: S3StoreOptions | null = JSON.parse(process.env.SHIPLOCK_TEST_S3 ?? 'null')

/**
 * For tests in which addresses expire by our clock: S3 looks at its own. The store's contract has
 * them expire there.
 */
export const onTheServersClock = { skip: s3UnderTest ? 'S3 has a clock of its own' : false }

export function requireS3(): S3StoreOptions {
  if (!s3UnderTest) throw new Error('This test needs an S3 server: npm run test:s3')
  return s3UnderTest
}

/** The settings with which the server program keeps its objects there. */
export function s3Environment(options: S3StoreOptions): Record<string, string> {
  return {
    SHIPLOCK_S3_ENDPOINT: options.endpoint ?? '',
    SHIPLOCK_S3_BUCKET: options.bucket,
    SHIPLOCK_S3_REGION: options.region,
    SHIPLOCK_S3_ACCESS_KEY_ID: options.accessKeyId,
    SHIPLOCK_S3_SECRET_ACCESS_KEY: options.secretAccessKey,
    SHIPLOCK_S3_FORCE_PATH_STYLE: String(options.forcePathStyle),
  }
}
