import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { findEnd, findNextChain } from './chain.store.ts'
import { isSettled, type StoredBreak } from './chain-break.ts'
import { findUnlinkedEntries } from './link.store.ts'
import type { ChainKey } from './link.ts'
import { verifyChain, type Walk } from './verify-chain.ts'

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
    total.breaks.push(...open.sort(byIndex).map((row) => ({ ...row, chain })))
    total.chains += 1
  }
  return total
}

function byIndex(a: StoredBreak, b: StoredBreak): number {
  return a.index - b.index || a.sequence - b.sequence
}

/** Every chain of an organization, or of all. */
export async function* listChains({ sql }: Services, orgId: string | null): AsyncGenerator<ChainKey> {
  let chain = await findNextChain(sql, orgId, null)
  while (chain !== null) {
    yield chain
    chain = await findNextChain(sql, orgId, chain)
  }
}
