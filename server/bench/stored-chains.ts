import type { KeyObject } from 'node:crypto'
import { systemClock } from '../src/platform/clock.ts'
import { computeDerivedKey, loadSecretKey } from '../src/platform/crypto/secret-key.ts'
import { toCanonicalJson } from '../src/platform/crypto/signed-bytes.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import { createUuid } from '../src/platform/ids.ts'
import { computeHeadMac } from '../src/provenance/chain/chain-head.ts'
import { computeAnchorMac, isAnchored } from '../src/provenance/chain/chain-interval.ts'
import { type ChainKey, type Link, linkHash, linkMac } from '../src/provenance/chain/link.ts'
import type { Services } from '../src/services.ts'
import type { Setting } from './setting.ts'

const CHUNK = 1000
/** About as long as the records of pull requests with a few commits, reviews and checks. */
const TITLE = 'A change with an ordinary title, reviews and checks. '.repeat(60)

/** What the verification of chains needs. */
export async function chainServices({ sql, directory }: Setting): Promise<Services> {
  const secret = await loadSecretKey(undefined, directory)
  const integrityKey = computeDerivedKey(secret, 'integrity of stored rows')
  return { sql, clock: systemClock, integrityKey } as Services
}

/**
 * Stores a chain of so many changes as appends would have left it. In bulk, because appends would
 * take minutes.
 */
export async function storeChain({ sql, integrityKey }: Services, length: number): Promise<ChainKey> {
  const chain = { org_id: createUuid(new Date()), provider: 'github', repository_id: '1' }
  let head: Buffer | null = null
  for (let first = 0; first < length; first += CHUNK) {
    const links = linksFrom(chain, head, first, Math.min(CHUNK, length - first))
    await storeLinks(sql, integrityKey, chain, links)
    head = links.at(-1)?.hash ?? head
  }
  const row = { length, head, breaks: 0, verified_length: 0, verified_at: null }
  await sql`insert into provenance_chains ${sql({ ...chain, ...row, mac: computeHeadMac(integrityKey, chain, row) })}`
  await sql`vacuum (analyze) chain_links, chain_anchors, changes, change_commits, log_entries`
  return chain
}

type StoredLink = Link & { body: string }

function linksFrom(chain: ChainKey, before: Buffer | null, first: number, count: number): StoredLink[] {
  const links: StoredLink[] = []
  for (let index = first; index < first + count; index += 1) {
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1000)
    const previous_hash: Buffer | null = links.at(-1)?.hash ?? before
    const body = toCanonicalJson(recordOf(chain, index, at))
    const hash = linkHash(previous_hash, body)
    links.push({ index, kind: 'record', change_id: idOf(chain, index), at, previous_hash, hash, body, tombstone: null })
  }
  return links
}

function idOf({ org_id }: ChainKey, index: number): string {
  return `chg_${org_id}_${index}`
}

function recordOf(chain: ChainKey, index: number, at: Date) {
  return {
    version: 1,
    id: idOf(chain, index),
    repository: { provider: chain.provider, id: chain.repository_id },
    branch: 'main',
    landed_by: 'pull_request',
    landed_at: at.toISOString(),
    commits: { head: shaOf(index), merge: shaOf(index), list: [] },
    forced: false,
    pull_request: { number: index + 1, title: TITLE },
    deviations: [],
  }
}

function shaOf(index: number): string {
  return index.toString(16).padStart(40, '0')
}

async function storeLinks(sql: Sql, key: KeyObject, chain: ChainKey, links: StoredLink[]): Promise<void> {
  await sql`insert into chain_links ${sql(links.map((link) => ({ ...chain, ...link, mac: linkMac(key, chain, link) })))}`
  await sql`insert into log_entries ${sql(links.map(({ hash }) => ({ kind: 'change', sha256: hash })))}`
  await sql`insert into changes ${sql(links.map((link) => changeOf(chain, link)))}`
  await sql`insert into change_commits ${sql(links.map(({ index, change_id }) => ({ ...chain, sha: shaOf(index), change_id })))}`
  const anchors = links.filter(({ index }) => isAnchored(index)).map(({ index, hash }) => ({ index, hash }))
  if (anchors.length === 0) return
  await sql`insert into chain_anchors ${sql(anchors.map((one) => ({ ...chain, ...one, mac: computeAnchorMac(key, chain, one) })))}`
}

function changeOf(chain: ChainKey, { index, at }: StoredLink) {
  return {
    ...chain,
    id: idOf(chain, index),
    branch: 'main',
    landed_by: 'pull_request',
    pull_request: index + 1,
    merge_sha: shaOf(index),
    link_index: index,
    last_index: index,
    deviations: [],
    created_at: at,
    recorded_at: at,
  }
}
