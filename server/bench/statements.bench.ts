import { type Benchmark, interleave } from './benchmark.ts'
import { requestsPerSecond } from './load.ts'
import type { Setting } from './setting.ts'
import { storeChanges } from './stored-changes.ts'

const ROUNDS = 5
const SECONDS = 3
const STATEMENTS = 1000
const SIGNED_PER_ROUND = 600
const WARM_UP = 200

/** Each change is signed once by our server, and once by the bare one. */
export const newStatements: Benchmark<Setting> = {
  name: 'statements newly signed',
  about: 'the first GET of change statements, beside crypto.sign and one INSERT without verification',
  unit: 'requests/s',
  bar: { of: 'ours', atLeast: 200 },
  async measure(setting) {
    const ids = await storeChanges(setting, WARM_UP + ROUNDS * SIGNED_PER_ROUND)
    const [ours, bare] = [eachOnce(ids), eachOnce(ids)]
    const signOurs = (amount: number) => requestsPerSecond({ ...oursOf(setting), amount }, () => oursPath(ours()))
    const signBare = (amount: number) =>
      requestsPerSecond({ method: 'POST', url: setting.bare.url, amount }, () => barePath(setting, bare()))
    await signOurs(WARM_UP)
    await signBare(WARM_UP)
    return interleave(
      ROUNDS,
      () => signOurs(SIGNED_PER_ROUND),
      () => signBare(SIGNED_PER_ROUND),
    )
  },
}

export const storedStatements: Benchmark<Setting> = {
  name: 'statements from store',
  about: `GET of ${STATEMENTS} issued change statements, beside the same query, through JSON.stringify`,
  unit: 'requests/s',
  bar: { of: 'ours', atLeast: 1000 },
  async measure(setting) {
    const ids = await storeChanges(setting, STATEMENTS)
    const issued = eachOnce(ids)
    await requestsPerSecond({ ...oursOf(setting), amount: STATEMENTS }, () => oursPath(issued()))
    await setting.sql`analyze`
    let read = 0
    const nextId = () => ids[read++ % ids.length] as string
    const readOurs = () => requestsPerSecond({ ...oursOf(setting), seconds: SECONDS }, () => oursPath(nextId()))
    const bare = { method: 'GET', url: setting.bare.url, seconds: SECONDS } as const
    const readBare = () => requestsPerSecond(bare, () => barePath(setting, nextId()))
    await readOurs()
    await readBare()
    return interleave(ROUNDS, readOurs, readBare)
  },
}

function oursOf({ ours }: Setting) {
  return { method: 'GET', url: ours.url, headers: { authorization: `Bearer ${ours.key}` } } as const
}

function oursPath(id: string) {
  return { path: `/v1/provenance/changes/${id}/statement` }
}

function barePath({ ours }: Setting, id: string) {
  return { path: `/statements?org=${ours.orgId}&id=${id}` }
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
