import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ChainKey } from './link.ts'

type Head = { length: number; head: Buffer | null }

/** Locks a chain until the transaction ends, and reads its end. */
export async function lockHead(tx: Tx, { org_id, provider, repository_id }: ChainKey): Promise<Head> {
  await lockName(tx, `provenance chain ${org_id} ${provider} ${repository_id}`)
  const [row] = await tx<Head[]>`
    select length::int, head
    from provenance_chains
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}`
  return row ?? { length: 0, head: null }
}

type LinkRow = { index: number; kind: string; change_id: string; body: string; hash: Buffer; at: Date }

/** Appends a link to a locked chain. */
export async function insertLink(tx: Tx, { org_id, provider, repository_id }: ChainKey, link: LinkRow): Promise<void> {
  await tx`
    insert into chain_links (org_id, provider, repository_id, index, kind, change_id, body, hash, at)
    values (
      ${org_id}, ${provider}, ${repository_id}, ${link.index}, ${link.kind}, ${link.change_id}, ${link.body},
      ${link.hash}, ${link.at}
    )`
  await tx`
    insert into provenance_chains (org_id, provider, repository_id, length, head)
    values (${org_id}, ${provider}, ${repository_id}, ${link.index + 1}, ${link.hash})
    on conflict (org_id, provider, repository_id) do update
    set length = excluded.length, head = excluded.head`
}
