// Runs the tests that use a real OPA server: `npm run test:opa`, with arguments as `npm test` takes them.

import { installOpa } from './support/opa.ts'
import { runTestFiles } from './support/run-test-files.ts'

process.exitCode = await run()

async function run(): Promise<number> {
  const program = await installOpa().catch((error: Error) => console.error(error.message))
  if (!program) return 1
  return runTestFiles({ include: 'server/test/opa/**/*.test.ts', exclude: [] }, { SHIPLOCK_TEST_OPA: program })
}
