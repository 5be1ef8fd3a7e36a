import { createApiKey } from '../src/access/manage-access.ts'
import { OPERATOR_GRANTOR, SCOPES } from '../src/access/scopes.ts'
import { insertOrganization } from '../src/organizations/organization.store.ts'
import { openSql } from '../src/platform/db/sql.ts'
import { createUuid } from '../src/platform/ids.ts'
import { openCitusDatabases } from '../test/support/citus-databases.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { startProgram } from './child-program.ts'
import { newRunMessage } from './ci-runs.ts'
import { requestsPerSecond } from './load.ts'
import { onNewDirectory } from './new-directory.ts'
import { environmentOf, type Setting } from './setting.ts'

const ROUNDS = 7
const WARM_UP_SECONDS = 2
const SECONDS = 3
const ORGANIZATIONS = 100
const SERVER = ['../src/main.ts', 'server', '--json']
const CLUSTER = process.env.SHIPLOCK_TEST_CITUS_URL

export const createCiRunOnCitus: Benchmark<Setting> = {
  name: 'createCiRun on Citus',
  about: `POST /v1/ci/runs of ${ORGANIZATIONS} organizations on a Citus cluster, beside a database on its coordinator alone`,
  unit: 'requests/s',
  bar: null,
  onlyByName: true,
  missing: CLUSTER ? null : 'set SHIPLOCK_TEST_CITUS_URL (docs/operations/citus.md)',
  measure: () => onNewDirectory(measure),
}

async function measure(directory: string) {
  await using opened = new AsyncDisposableStack()
  const databases = await openCitusDatabases(CLUSTER ?? '')
  opened.defer(() => databases.drop())
  const cluster = await openLoad({ url: databases.distributed, directory, opened })
  const single = await openLoad({ url: databases.single, directory, opened })
  await cluster(WARM_UP_SECONDS)
  await single(WARM_UP_SECONDS)
  return await interleave(
    ROUNDS,
    () => cluster(SECONDS),
    () => single(SECONDS),
  )
}

type Place = { url: string; directory: string; opened: AsyncDisposableStack }

/** Starts a server on a database, and returns what sends runs of all organizations by turns. */
async function openLoad({ url: DATABASE_URL, directory, opened }: Place) {
  const keys = await createKeys(DATABASE_URL)
  const program = await startProgram<{ url: string }>(SERVER, { ...environmentOf(directory), DATABASE_URL })
  opened.defer(program.stop)
  const url = `${program.ready.url}/v1/ci/runs`
  let sent = 0
  const next = () => newRunMessage(keys[sent++ % keys.length] as string)
  return (seconds: number) => requestsPerSecond({ method: 'POST', url, seconds }, next)
}

/** A key of each organization. */
async function createKeys(url: string): Promise<string[]> {
  const sql = openSql(url, { max: 1, applicationName: 'bench' })
  const keys: string[] = []
  for (let number = 0; number < ORGANIZATIONS; number += 1) {
    const id = createUuid(new Date())
    await insertOrganization(sql, { id, slug: `org-${number}`, name: 'bench', plan: 'enterprise' }, new Date())
    const request = { scopes: SCOPES, environment: 'production', expiresAt: null, grantor: OPERATOR_GRANTOR } as const
    keys.push((await sql.begin((tx) => createApiKey(tx, id, { ...request, name: 'bench' }, new Date()))).key)
  }
  await sql.end()
  return keys
}
