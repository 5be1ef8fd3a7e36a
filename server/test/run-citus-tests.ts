// Runs the tests of the API on a distributed database: `npm run test:citus`, with arguments as
// `npm test` takes them. SHIPLOCK_TEST_CITUS_URL is the address of a database on the coordinator of a
// Citus cluster, in which it knows itself and its workers (docs/operations/citus.md). The tests make
// databases of their own on all of its servers.
import { startCitusServer } from './support/database.ts'
import { runTestFiles } from './support/run-test-files.ts'

const FOLDERS =
  'api,application,citus,codehosts,ingest,journeys,oidc,provenance,provider-runs,queue,retention,sign-in,sso'
/**
 * They read plans, which on several servers have only the parts of the coordinator, or change any
 * column of any row.
 */
const FOR_ONE_SERVER = [
  '**/*-index.test.ts',
  '**/*-plans.test.ts',
  '**/*-statistics.test.ts',
  '**/list-unanalysed.test.ts',
  '**/tampering.test.ts',
]

process.exitCode = await run(process.env.SHIPLOCK_TEST_CITUS_URL)

async function run(url: string | undefined): Promise<number> {
  if (!url) {
    console.error('Set SHIPLOCK_TEST_CITUS_URL to a database on the coordinator of a Citus cluster.')
    return 1
  }
  const files = { include: `server/test/{{${FOLDERS}}/**/*,runbook/citus}.test.ts`, exclude: FOR_ONE_SERVER }
  return runTestFiles(files, {}, () => startCitusServer(url))
}
