import { type Benchmark, interleave } from './benchmark.ts'
import { configureGate } from './gates.ts'
import { requestsPerSecond } from './load.ts'
import type { Setting } from './setting.ts'
import { deployChanges, storeChanges } from './stored-changes.ts'

const ROUNDS = 5
const SECONDS = 3
const STATEMENTS = 500
const SIGNED_PER_ROUND = 600
const WARM_UP = 200

const PATHS = {
  change: (id: string) => `/v1/provenance/changes/${id}/statement`,
  lineage: (id: string) => `/v1/provenance/deployments/${id}/lineage/statement`,
  verification: (id: string) => `/v1/provenance/deployments/${id}/verification`,
}
type Kind = keyof typeof PATHS

/** Statements of all kinds: issued, and then read from the store. */
export const storedStatements: Benchmark<Setting>[] = (Object.keys(PATHS) as Kind[]).map((kind) => ({
  name: `${kind} statements from store`,
  about: `GET of ${STATEMENTS} issued statements, beside one SELECT of the row, through JSON.stringify`,
  unit: 'requests/s',
  bar: { of: 'ours', atLeast: 1000 },
  async measure(setting) {
    const ids = await storeSubjects(setting, kind)
    const issued = eachOnce(ids)
    const ours = oursOf(setting)
    await requestsPerSecond({ ...ours, amount: ids.length }, () => ({ path: PATHS[kind](issued()) }))
    await setting.sql`analyze`
    let read = 0
    const nextId = () => ids[read++ % ids.length] as string
    const readOurs = () => requestsPerSecond({ ...ours, seconds: SECONDS }, () => ({ path: PATHS[kind](nextId()) }))
    const bare = { method: 'GET', url: setting.bare.url, seconds: SECONDS } as const
    const readBare = () => requestsPerSecond(bare, () => barePath(setting, { kind, id: nextId() }))
    await readOurs()
    await readBare()
    return interleave(ROUNDS, readOurs, readBare)
  },
}))

/** Each change is signed once by our server, and once by the bare one. */
export const newStatements: Benchmark<Setting> = {
  name: 'statements newly signed',
  about: 'the first GET of change statements, beside crypto.sign and one INSERT without verification',
  unit: 'requests/s',
  bar: { of: 'ours', atLeast: 200 },
  async measure(setting) {
    const records = await storeChanges(setting, WARM_UP + ROUNDS * SIGNED_PER_ROUND)
    await setting.sql`analyze`
    const ids = records.map(({ id }) => id)
    const [ours, bare] = [eachOnce(ids), eachOnce(ids)]
    const signOurs = (amount: number) =>
      requestsPerSecond({ ...oursOf(setting), amount }, () => ({ path: PATHS.change(ours()) }))
    const signBare = (amount: number) =>
      requestsPerSecond({ method: 'POST', url: setting.bare.url, amount }, () => barePath(setting, { id: bare() }))
    await signOurs(WARM_UP)
    await signBare(WARM_UP)
    const measured = () => signOurs(SIGNED_PER_ROUND)
    return interleave(ROUNDS, measured, () => signBare(SIGNED_PER_ROUND))
  },
}

/** Changes, and for other kinds a gated deployment of each. */
async function storeSubjects(setting: Setting, kind: Kind): Promise<string[]> {
  if (kind === 'verification') await configureGate(setting, 'production', [])
  const records = await storeChanges(setting, STATEMENTS)
  if (kind !== 'change') await deployChanges(setting, records)
  return records.map(({ id }) => id)
}

function oursOf({ ours }: Setting) {
  return { method: 'GET', url: ours.url, headers: { authorization: `Bearer ${ours.key}` } } as const
}

function barePath({ ours }: Setting, query: Record<string, string>) {
  return { path: `/statements?${new URLSearchParams({ org: ours.orgId, ...query })}` }
}

/** Throws when all ids were returned. */
function eachOnce(ids: readonly string[]): () => string {
  let next = 0
  return () => {
    const id = ids[next++]
    if (id === undefined) throw new Error('There are no more changes')
    return id
  }
}
