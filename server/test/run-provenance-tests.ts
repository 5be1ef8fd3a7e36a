// Verifies statements with the tools of others: `npm run test:provenance`, with arguments as `npm
// test` takes them.

import { runTestFiles } from './support/run-test-files.ts'
import { installVerifiers, type VerifierPaths } from './support/verifiers/install-verifiers.ts'
import { startIssuer } from './support/verifiers/issuer.ts'

process.exitCode = await run()

async function run(): Promise<number> {
  const verifiers = await installVerifiers().catch((error: Error) => console.error(error.message))
  return verifiers ? runWith(verifiers) : 1
}

async function runWith(verifiers: VerifierPaths): Promise<number> {
  const { issuer, close } = await startIssuer()
  const env = { SHIPLOCK_TEST_VERIFIERS: JSON.stringify(verifiers), SHIPLOCK_TEST_ISSUER: JSON.stringify(issuer) }
  try {
    return await runTestFiles({ include: 'server/test/verifiers/**/*.test.ts', exclude: [] }, env)
  } finally {
    await close()
  }
}
