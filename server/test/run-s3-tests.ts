// Runs what depends on the object store on a real S3 server: `npm run test:s3`, with arguments as
// `npm test` takes them.

import { runTestFiles } from './support/run-test-files.ts'
import { startS3Server } from './support/s3-server.ts'

/** The store's own tests, and those of the API that also run on files in `npm test`. */
const INCLUDE =
  'server/test/{s3/**/*,journeys/{sarif,report}-to-findings,api/*{upload,report,artifact,attestation}*}.test.ts'
/**
 * What the API itself answers to a PUT, which it takes for the file store only; and what is decided
 * before any file.
 */
const EXCLUDE = ['put-*', 'create-security-upload{,-quota,-repository}'].map(
  (name) => `server/test/api/${name}.test.ts`,
)

process.exitCode = await run()

async function run(): Promise<number> {
  const server = await startS3Server().catch((error: Error) => console.error(error.message))
  if (!server) return 1
  try {
    return await runTestFiles(
      { include: INCLUDE, exclude: EXCLUDE },
      { SHIPLOCK_TEST_S3: JSON.stringify(server.options) },
    )
  } finally {
    await server.close()
  }
}
