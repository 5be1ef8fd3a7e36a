// Runs the upgrade of the embedded database from the major version of PostgreSQL before:
// `npm run test:postgres-upgrade`. The first run downloads that version from npm.

import { runTestFiles } from './support/run-test-files.ts'
import { installPreviousPostgres } from './support/upgrade/install-previous-postgres.ts'

process.exitCode = await run()

async function run(): Promise<number> {
  const directory = await installPreviousPostgres().catch((error: Error) => console.error(error.message))
  if (!directory) return 1
  return runTestFiles(
    { include: 'server/test/postgres-upgrade/**/*.test.ts', exclude: [] },
    { SHIPLOCK_TEST_PREVIOUS_POSTGRES: directory },
  )
}
