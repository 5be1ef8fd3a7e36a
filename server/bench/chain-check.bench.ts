import { INTERVAL } from '../src/provenance/chain/chain-interval.ts'
import { type ChainKey, linkHash } from '../src/provenance/chain/link.ts'
import { verifyLinks } from '../src/provenance/chain/read-chain-state.ts'
import { verifyChains } from '../src/provenance/chain/verify-chains.job.ts'
import type { Services } from '../src/services.ts'
import { type Benchmark, interleave, median } from './benchmark.ts'
import type { Setting } from './setting.ts'
import { chainServices, storeChain } from './stored-chains.ts'

const LARGE = 100_000
const SMALL = 128
const ROUNDS = 5
const CHECKS = 50

type Stored = { services: Services; large: ChainKey; small: ChainKey }
const stored = new WeakMap<Setting, Promise<Stored>>()

/** One chain with 100,000 changes and one with two intervals, made once. */
function storedChains(setting: Setting): Promise<Stored> {
  const known = stored.get(setting)
  if (known) return known
  const making = chainServices(setting).then(async (services) => {
    return { services, small: await storeChain(services, SMALL), large: await storeChain(services, LARGE) }
  })
  stored.set(setting, making)
  return making
}

export const chainCheck: Benchmark<Setting>[] = [
  {
    name: 'chain check of 100,000 changes',
    about: `what a statement verifies of the chain of a repository with ${LARGE} changes, beside one with ${SMALL}`,
    unit: 'ms',
    bar: { of: 'ratio', atMost: 1.2 },
    async measure(setting) {
      const { services, large, small } = await storedChains(setting)
      return interleave(
        ROUNDS,
        () => medianMs(services, large, LARGE),
        () => medianMs(services, small, SMALL),
      )
    },
  },
  {
    name: 'walk of a chain of 100,000 changes',
    about: 'provenance verify of one chain, beside reading the same rows and SHA-256 of their bodies',
    unit: 'ms',
    bar: null,
    async measure(setting) {
      const { services, large } = await storedChains(setting)
      return interleave(
        ROUNDS,
        () => elapsedMs(() => walk(services, large)),
        () => elapsedMs(() => hashAll(services, large)),
      )
    },
  },
]

async function medianMs(services: Services, chain: ChainKey, length: number): Promise<number> {
  const times: number[] = []
  for (let nth = 0; nth < CHECKS; nth += 1) {
    const index = (nth * 7919) % (length - (length % INTERVAL))
    times.push(
      await elapsedMs(async () => {
        const { state } = (await verifyLinks(services, chain, index, index)).state
        if (state !== 'intact') throw new Error(`The chain is ${state}.`)
      }),
    )
  }
  return median(times)
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function walk(services: Services, chain: ChainKey): Promise<void> {
  const { links, breaks } = await verifyChains(services, [chain])
  if (links !== LARGE || breaks.length > 0)
    throw new Error(`${links} links were verified, with ${breaks.length} breaks.`)
}

type Row = { previous_hash: Buffer | null; hash: Buffer; body: string }

async function hashAll({ sql }: Services, { org_id }: ChainKey): Promise<void> {
  const rows = sql<Row[]>`
    select previous_hash, hash, body
    from chain_links
    where org_id = ${org_id}
    order by index`.cursor(256)
  for await (const links of rows)
    for (const { previous_hash, hash, body } of links)
      if (!linkHash(previous_hash, body).equals(hash)) throw new Error('A hash is wrong.')
}
