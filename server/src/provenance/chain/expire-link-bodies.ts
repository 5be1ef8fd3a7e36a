import { hash } from 'node:crypto'
import { toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { findExpiredIndex, type LinkRow, updateTombstone } from './link.store.ts'
import { type ChainKey, linkMac } from './link.ts'
import { LINKS_AT_ONCE, verifyLinks } from './read-chain-state.ts'
import { parseStatedChange, type Tombstone } from './stated-change.ts'
import { listChains } from './verify-chains.job.ts'

type Retention = {
  org_id: string
  since: Date
  stopping?: AbortSignal
  /** Called in the transaction of each batch with the number of removed bodies. */
  note?(tx: Tx, removed: number): Promise<void>
  /** Called after each batch. */
  rest?(): Promise<void>
}

/**
 * Removes the bodies of records whose changes landed before `since`, and of amendments from before
 * then. Each leaves a tombstone, so that the chain still verifies. A broken chain keeps its bodies,
 * which are evidence, until the breaks are acknowledged. Returns the number of removed bodies.
 */
export async function expireLinkBodies(services: Services, retention: Retention): Promise<number> {
  let removed = 0
  for await (const chain of listChains(services, retention.org_id)) {
    removed += await expireChain(services, chain, retention)
  }
  return removed
}

async function expireChain(services: Services, chain: ChainKey, retention: Retention): Promise<number> {
  const { since, stopping } = retention
  let removed = 0
  let index = await findExpiredIndex(services.sql, chain, 0, since)
  while (index !== null) {
    stopping?.throwIfAborted()
    const { state, links, next } = await verifyLinks(services, chain, index, index + LINKS_AT_ONCE)
    if (state.state === 'broken') return removed
    const expired = links.filter((link) => isExpired(link, since))
    removed += await expireLinks(services, chain, expired, retention)
    await retention.rest?.()
    index = await findExpiredIndex(services.sql, chain, next, since)
  }
  return removed
}

/** Decides by the link itself, because the row of the change may have been changed. */
function isExpired(link: LinkRow, since: Date): boolean {
  const landedAt = parseStatedChange(link)?.created_at
  return link.body !== null && (landedAt === undefined ? link.at : new Date(landedAt)) < since
}

async function expireLinks(
  services: Services,
  chain: ChainKey,
  links: LinkRow[],
  { note }: Retention,
): Promise<number> {
  const expired_at = services.clock.now().toISOString()
  await services.sql.begin(async (tx) => {
    for (const link of links) {
      const body_sha256 = hash('sha256', link.body ?? '', 'hex')
      const removed: Tombstone = { body_sha256, expired_at, stated: parseStatedChange(link) }
      const tombstone = toCanonicalJson(removed)
      const mac = linkMac(services.integrityKey, chain, { ...link, tombstone })
      await updateTombstone(tx, chain, { index: link.index, tombstone, mac })
    }
    await note?.(tx, links.length)
  })
  return links.length
}
