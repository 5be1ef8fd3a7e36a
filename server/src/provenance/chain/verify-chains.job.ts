import { hashValues } from '../../platform/crypto/signed-bytes.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { checkEnd, recordBreaks, settleEnd } from './append-link.ts'
import { findEnd, findNextChain, lockChain, upsertHead } from './chain.store.ts'
import { type FoundBreak, filterNewBreaks, isSettled, NO_HASH, type StoredBreak } from './chain-break.ts'
import { type ChainHead, computeContinuedHead, computeHeadMac } from './chain-head.ts'
import { checkInterval, checkPrevious, getIntervalStart } from './chain-interval.ts'
import { findNextIndex, findOrphans, findUnlinkedEntries, type LinkRow } from './link.store.ts'
import type { ChainKey } from './link.ts'
import { LINKS_AT_ONCE, readIntervals } from './read-chain-state.ts'

/** Verifies every chain once a day, at an unusual minute to spread the load. */
export const verifyChainsDaily = defineScheduledJob<Services>('provenance.verify-chains', {
  class: 'bulk',
  schedule: '23 3 * * *',
  async run(services, _payload, stopping): Promise<void> {
    const { chains, links, breaks } = await verifyChains(services, listChains(services, null), { stopping })
    const unlinked = (await findUnlinkedEntries(services.sql)).length
    const counts = { chains, links, breaks: breaks.length, unlinked }
    if (breaks.length + unlinked === 0) services.log.info(counts, 'The chains of change records were verified')
    else services.log.error(counts, 'Chains of change records do not verify; see "provenance verify"')
  },
})

/** A break that is not acknowledged. */
export type OpenBreak = StoredBreak & { chain: ChainKey }

/** How much was verified, and all breaks that are not acknowledged. */
export type Verification = { chains: number; links: number; breaks: OpenBreak[] }

/** Verifies chains one after the other, and stores what does not match. */
export async function verifyChains(
  services: Services,
  chains: AsyncIterable<ChainKey> | Iterable<ChainKey>,
  { stopping, onProgress }: Walk = {},
): Promise<Verification> {
  const total: Verification = { chains: 0, links: 0, breaks: [] }
  const count = (links: number) => {
    total.links += links
    onProgress?.(links)
  }
  for await (const chain of chains) {
    await verifyChain(services, chain, { stopping, onProgress: count })
    const { breaks } = await findEnd(services.sql, chain)
    const open = breaks.filter((row) => !isSettled(services.integrityKey, chain, row))
    open.sort((a, b) => a.index - b.index || a.sequence - b.sequence)
    total.breaks.push(...open.map((row) => ({ ...row, chain })))
    total.chains += 1
  }
  return total
}

/** Every chain of an organization, or of all. */
export async function* listChains({ sql }: Services, orgId: string | null): AsyncGenerator<ChainKey> {
  let chain = await findNextChain(sql, orgId, null)
  while (chain !== null) {
    yield chain
    chain = await findNextChain(sql, orgId, chain)
  }
}

type Walk = {
  stopping?: AbortSignal | undefined
  /** Called with the number of links that were read since the last call. */
  onProgress?: ((links: number) => void) | undefined
}

/**
 * Verifies all links of a chain, in batches, and stores what does not match. Links that are
 * appended meanwhile are not verified. Throws when `stopping` is aborted.
 */
export async function verifyChain(services: Services, chain: ChainKey, walk: Walk = {}): Promise<void> {
  const end = await findEnd(services.sql, chain)
  const head = computeContinuedHead(services.integrityKey, chain, end)
  const keep = async (found: readonly FoundBreak[]) => {
    if (filterNewBreaks(found, end.breaks).length > 0) await recordBreaks(services, chain, found)
  }
  if (filterNewBreaks(checkEnd(services, chain, end), end.breaks).length > 0) await recordBreaks(services, chain, [])
  await walkLinks(services, chain, { ...walk, head, keep })
  const orphans = await findOrphans(services.sql, chain)
  await keep(orphans.map(({ part, index, name }) => ({ part, index, expected: NO_HASH, found: hashValues(name) })))
  await rememberWalk(services, chain, head.length)
}

type LinkWalk = Walk & { head: ChainHead; keep: (found: readonly FoundBreak[]) => Promise<void> }

async function walkLinks(services: Services, chain: ChainKey, walk: LinkWalk): Promise<void> {
  let before: LinkRow | undefined
  let from = 0
  while (from < walk.head.length) {
    walk.stopping?.throwIfAborted()
    const intervals = await readIntervals(services.sql, chain, walk.head, { from, to: from + LINKS_AT_ONCE })
    for (const interval of intervals) {
      const [first] = interval.links
      const found = checkInterval(services.integrityKey, chain, interval)
      await walk.keep(before && first ? [...found, ...checkPrevious(first, before)] : found)
      before = interval.links.at(-1)
      walk.onProgress?.(interval.links.length)
    }
    from += LINKS_AT_ONCE
    if (before === undefined) from = await skipGap(services, chain, from, walk.head.length)
  }
}

/** A gap may be any number of links long, because an index can be changed in the database. */
async function skipGap({ sql }: Services, chain: ChainKey, from: number, length: number): Promise<number> {
  const next = await findNextIndex(sql, chain, from)
  return next === null ? length : getIntervalStart(next)
}

/** Stores how far the chain was verified, in its authenticated row. */
async function rememberWalk(services: Services, chain: ChainKey, length: number): Promise<void> {
  await services.sql.begin(async (tx) => {
    await lockChain(tx, chain)
    const end = await settleEnd(services, tx, chain)
    const head = { ...end, verified_length: length, verified_at: services.clock.now() }
    await upsertHead(tx, chain, head, computeHeadMac(services.integrityKey, chain, head))
  })
}
