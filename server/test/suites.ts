import { startCitusServer, type TestServer } from './support/database.ts'
import { installOpa } from './support/opa.ts'
import { startS3Server } from './support/s3-server.ts'
import { installPreviousPostgres } from './support/upgrade/install-previous-postgres.ts'
import { installVerifiers } from './support/verifiers/install-verifiers.ts'
import { startIssuer } from './support/verifiers/issuer.ts'

/** What the files of a suite need beside PostgreSQL. */
export type Prepared = {
  env?: Record<string, string>
  startServer?: () => Promise<TestServer>
  close?: () => Promise<void>
}

/** Test files that a command runs: `npm test`, or `npm run test:<name>`. */
export type Suite = { include: string; exclude: string[]; isSerial?: boolean; prepare?: () => Promise<Prepared> }

/** What takes long, because it starts installations, or plays every code host or every order. */
const LONG = {
  journeys:
    '{server/test/{journeys/**/*,formats-hostile,provenance/tampering},action/test/{ci-pages,verified-workflow}}.test.ts',
  // With the tests of the hosts that they play.
  stories: 'server/test/{stories/**/*,codehosts/*}.test.ts',
  operations: 'server/test/{{operations,roles,retention}/**/*,queue/{lost-jobs,parallel-workers}}.test.ts',
  runbooks: 'server/test/runbook/**/*.test.ts',
  upgrade: 'server/test/upgrade/**/*.test.ts',
}
const OTHER_PROGRAMS = 'server/test/{citus,s3,opa,verifiers,failover,packages,postgres-upgrade}/**'

/** The API on several servers. */
const CITUS_FOLDERS = 'api,citus,codehosts,ingest,journeys,oidc,provenance,provider-runs,queue,retention,sign-in,sso'
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

/** The store's own tests, and those of the API that also run on files in `npm test`. */
const ON_S3 =
  'server/test/{s3/**/*,journeys/{sarif,report}-to-findings,api/v1/{ci/runs/reports,security/uploads}/**/*}.test.ts'
/** What is decided before any file. */
const NOT_ON_S3 = ['', '-quota', '-repository'].map(
  (which) => `server/test/api/v1/security/uploads/create${which}.test.ts`,
)

export const SUITES: Record<string, Suite> = {
  /** Before each commit: `npm test`. */
  all: {
    include: '{server,sdk,cli,action,console,packages/*}/{src,test}/**/*.test.ts',
    exclude: [...Object.values(LONG), OTHER_PROGRAMS, 'sdk/test/published/**', 'console/test/**'],
  },
  journeys: only(LONG.journeys),
  stories: only(LONG.stories),
  operations: only(LONG.operations),
  runbooks: only(LONG.runbooks),
  upgrade: only(LONG.upgrade),
  failover: only('server/test/failover/*.test.ts'),
  // All of its files build in the same folders.
  packages: { ...only('server/test/packages/**/*.test.ts'), isSerial: true },
  s3: { include: ON_S3, exclude: NOT_ON_S3, prepare: prepareS3 },
  opa: {
    ...only('server/test/opa/**/*.test.ts'),
    prepare: async () => ({ env: { SHIPLOCK_TEST_OPA: await installOpa() } }),
  },
  /** `npm test` plays a few of these histories. */
  trust: {
    ...only('server/test/trust/property.test.ts'),
    prepare: async () => ({ env: { SHIPLOCK_TEST_HISTORIES: process.env.SHIPLOCK_TEST_HISTORIES ?? '10000' } }),
  },
  provenance: { ...only('server/test/verifiers/**/*.test.ts'), prepare: prepareVerifiers },
  'postgres-upgrade': {
    ...only('server/test/postgres-upgrade/**/*.test.ts'),
    prepare: async () => ({ env: { SHIPLOCK_TEST_PREVIOUS_POSTGRES: await installPreviousPostgres() } }),
  },
  citus: {
    include: `server/test/{{${CITUS_FOLDERS}}/**/*,runbook/citus}.test.ts`,
    exclude: FOR_ONE_SERVER,
    prepare: prepareCitus,
  },
}

function only(include: string): Suite {
  return { include, exclude: [] }
}

async function prepareS3(): Promise<Prepared> {
  const { options, close } = await startS3Server()
  return { env: { SHIPLOCK_TEST_S3: JSON.stringify(options) }, close: async () => void (await close()) }
}

async function prepareVerifiers(): Promise<Prepared> {
  const verifiers = await installVerifiers()
  const { issuer, close } = await startIssuer()
  const env = { SHIPLOCK_TEST_VERIFIERS: JSON.stringify(verifiers), SHIPLOCK_TEST_ISSUER: JSON.stringify(issuer) }
  return { env, close: async () => void (await close()) }
}

/**
 * The tests make databases of their own on all servers of the cluster (docs/operations/citus.md).
 */
async function prepareCitus(): Promise<Prepared> {
  const url = process.env.SHIPLOCK_TEST_CITUS_URL
  if (!url) throw new Error('Set SHIPLOCK_TEST_CITUS_URL to a database on the coordinator of a Citus cluster.')
  return { startServer: () => startCitusServer(url) }
}
