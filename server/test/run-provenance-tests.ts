// Verifies statements with the tools of others: `npm run test:provenance`, with arguments as `npm
// test` takes them.

import { runTestFiles } from './support/run-test-files.ts'
import { installVerifiers } from './support/verifiers/install-verifiers.ts'

process.exitCode = await run()

async function run(): Promise<number> {
  const verifiers = await installVerifiers().catch((error: Error) => console.error(error.message))
  if (!verifiers) return 1
  const tests = { include: 'server/test/verifiers/**/*.test.ts', exclude: [] }
  return runTestFiles(tests, { SHIPLOCK_TEST_VERIFIERS: JSON.stringify(verifiers) })
}
