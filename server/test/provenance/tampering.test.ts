import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { getSqlState, type Tx, UNIQUE_VIOLATION } from '../../src/platform/db/sql.ts'

import { settleBreaks } from '../../src/provenance/chain/acknowledge-breaks.ts'
import { expireLinkBodies } from '../../src/provenance/chain/expire-link-bodies.ts'
import { findUnlinkedEntries } from '../../src/provenance/chain/link.store.ts'
import { type ChainKey, linkHash } from '../../src/provenance/chain/link.ts'
import { listChains, verifyChains } from '../../src/provenance/chain/verify-chains.job.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { growChain, tamper, verifyLink } from '../support/chains.ts'

const RUNS = Number(process.env.TAMPER_RUNS ?? 100)
const DAY_MS = 86_400_000
const TABLES = [
  ...['provenance_chains', 'chain_links', 'chain_anchors', 'chain_breaks'],
  ...['changes', 'change_commits', 'log_entries'],
]
/** Columns that neither a record states nor a statement shows. PostgreSQL computes `facet`. */
const FREE_COLUMNS = ['changes.push_id', 'changes.facet', 'log_entries.id', 'log_entries.leaf_index']

let api: TestApi
/** The chains have 3 links, 70 with tombstones, and 140 with an acknowledged break. */
let chains: ChainKey[]

before(async () => {
  api = await startTestApi()
  const { orgId: org_id } = await api.caller()
  chains = ['1', '2', '3'].map((repository_id) => ({ org_id, provider: 'github', repository_id }))
  const [short, expired, long] = chains as [ChainKey, ChainKey, ChainKey]
  await growChain(api.services, expired, 10)
  api.clock.advance(100 * DAY_MS)
  await expireLinkBodies(api.services, { org_id, since: new Date(api.clock.now().getTime() - DAY_MS) })
  await growChain(api.services, expired, 60, 10)
  await growChain(api.services, short, 3)
  await growChain(api.services, long, 140)
  await tamper(
    api,
    (tx) => tx`update chain_links set body = body || ' ' where repository_id = '3' and index in (1, 70)`,
  )
  await verifyLink(api.services, long, 1)
  await settleBreaks(api.services, long, { principal: COMMAND_LINE, note: 'A test' })
  await dropConstraints()
  for (const table of TABLES)
    await api.services.sql`create table ${api.services.sql(`kept_${table}`)} as table ${api.services.sql(table)}`
})
after(() => api?.close())

/** Somebody who can change the schema is not held up by it. */
async function dropConstraints(): Promise<void> {
  const { sql } = api.services
  const constraints = await sql<{ table: string; name: string }[]>`
    select conrelid::regclass::text as table, conname as name
    from pg_constraint
    where contype = 'c'
      and conrelid::regclass::text = any(${TABLES})`
  for (const { table, name } of constraints) await sql`alter table ${sql(table)} drop constraint ${sql(name)}`
  // Rows are copied back as they were, which a generated column does not allow.
  await sql`alter table changes alter column facet drop expression`
}

async function restore(): Promise<void> {
  await tamper(api, async (tx) => {
    await tx.unsafe(`truncate ${TABLES.join(', ')} cascade`)
    for (const table of TABLES) {
      await tx`insert into ${tx(table)} overriding system value select * from ${tx(`kept_${table}`)}`
    }
  })
}

async function findBreaks(): Promise<number> {
  const { breaks } = await verifyChains(api.services, listChains(api.services, null))
  return breaks.length + (await findUnlinkedEntries(api.services.sql)).length
}

/** Changes the database. Returns a link near the change; null if nothing has changed. */
type Tampering = (tx: Tx) => Promise<{ chain: ChainKey; index: number } | null>

type Column = { table: string; column: string; type: string }

async function listColumns(): Promise<Column[]> {
  const columns = await api.services.sql<Column[]>`
    select table_name as table, column_name as column, udt_name as type
    from information_schema.columns
    where table_schema = 'public'
      and table_name = any(${TABLES})
    order by table_name, ordinal_position`
  return columns.filter(({ table, column }) => !FREE_COLUMNS.includes(`${table}.${column}`))
}

type Row = { ctid: string } & ChainKey & {
    index?: number
    length?: number
    link_index?: number
    change_id?: string
    sha256?: Buffer
  }

/** Entries of the log have no chain: those of a link stand for it. */
async function pickRow(tx: Tx, table: string, nth: number): Promise<Row> {
  const rows = await tx<
    Row[]
  >`select *, ctid::text from ${tx(table)} order by ${tx(table)}::text collate "C" limit 1000`
  return rows[nth % rows.length] as Row
}

async function placeOf(tx: Tx, row: Row): Promise<{ chain: ChainKey; index: number }> {
  if (row.sha256 !== undefined) {
    const [link] = await tx<[ChainKey & { index: number }]>`
      select org_id, provider, repository_id, index
      from chain_links
      where hash = ${row.sha256}`
    return { chain: link, index: link.index }
  }
  if (row.index === undefined && row.change_id !== undefined) {
    const [link] = await tx<[ChainKey & { index: number }]>`
      select org_id, provider, repository_id, index
      from chain_links
      where change_id = ${row.change_id}
        and kind = 'record'`
    return { chain: link, index: link.index }
  }
  const { org_id, provider, repository_id } = row
  const [known] = chains.filter((chain) => chain.repository_id === repository_id)
  assert.deepEqual(known, { org_id, provider, repository_id })
  return { chain: known as ChainKey, index: row.link_index ?? row.index ?? (row.length ?? 1) - 1 }
}

/** Changes a number or one character of a text, or fills a column that is null. */
function changeColumn({ table, column, type }: Column, nth: number, at: number, by: number): Tampering {
  return async (tx) => {
    const row = await pickRow(tx, table, nth)
    const place = await placeOf(tx, row)
    const [{ text }] = await tx<[{ text: string | null }]>`
      select ${tx(column)}::text as text
      from ${tx(table)}
      where ctid = ${row.ctid}::tid`
    const value = text === null ? (SAMPLES[type] ?? 'x') : changeText(text, type, at, by)
    const changed = await tx.unsafe(
      `update ${table} set ${column} = $1::text::${type} where ctid = $2::tid and ${column} is distinct from $1::text::${type} returning 1`,
      [value, row.ctid],
    )
    return changed.length === 0 ? null : place
  }
}

const SAMPLES: Record<string, string> = {
  int4: '1',
  int8: '1',
  timestamptz: '2026-01-01T00:00:00Z',
  bytea: `\\x${'ab'.repeat(32)}`,
}

/** A number with another character is rarely a number, and rarely one that no other row has. */
function changeText(text: string, type: string, at: number, by: number): string {
  return type.startsWith('int') ? String(BigInt(text) + BigInt(by)) : changeCharacter(text, at, by)
}

function changeCharacter(text: string, at: number, by: number): string {
  if (text.length === 0) return 'x'
  const place = at % text.length
  return text.slice(0, place) + String.fromCharCode(33 + ((text.charCodeAt(place) + by) % 94)) + text.slice(place + 1)
}

function deleteRow(table: string, nth: number): Tampering {
  return async (tx) => {
    const row = await pickRow(tx, table, nth)
    const place = await placeOf(tx, row)
    await tx`delete from ${tx(table)} where ctid = ${row.ctid}::tid`
    return place
  }
}

/** Two links of a chain change places, with or without their indexes in the rows of changes. */
function swapLinks(nth: number, other: number): Tampering {
  return async (tx) => {
    const chain = chains[nth % chains.length] as ChainKey
    const length = await lengthOf(tx, chain)
    const [a, b] = [nth % length, other % length]
    if (a === b) return null
    await tx`
      update chain_links
      set index = case index when ${a} then -1 else -2 end
      where repository_id = ${chain.repository_id}
        and index in (${a}, ${b})`
    await tx`
      update chain_links
      set index = case index when -1 then ${b}::int else ${a}::int end
      where repository_id = ${chain.repository_id}
        and index < 0`
    return { chain, index: a }
  }
}

async function lengthOf(tx: Tx, { repository_id }: ChainKey): Promise<number> {
  const [row] = await tx<[{ length: number }]>`
    select count(*)::int as length
    from chain_links
    where repository_id = ${repository_id}`
  return row.length
}

/** Removes the last links with everything that belongs to them, except from the log. */
function truncate(nth: number, count: number): Tampering {
  return async (tx) => {
    const chain = chains[nth % chains.length] as ChainKey
    const left = Math.max(0, (await lengthOf(tx, chain)) - 1 - (count % 100))
    const { repository_id } = chain
    await tx`delete from chain_links where repository_id = ${repository_id} and index >= ${left}`
    await tx`delete from chain_anchors where repository_id = ${repository_id} and index >= ${left}`
    await tx`delete from change_commits where change_id in (select id from changes where link_index >= ${left})`
    await tx`delete from changes where repository_id = ${repository_id} and link_index >= ${left}`
    return { chain, index: Math.max(0, left - 1) }
  }
}

/** Puts the link of another chain in the place of a link, or after the last one. */
function copyLink(nth: number, source: number): Tampering {
  return async (tx) => {
    const chain = chains[nth % chains.length] as ChainKey
    const from = chains[(nth + 1) % chains.length] as ChainKey
    const length = await lengthOf(tx, chain)
    const index = nth % (length + 1)
    const { repository_id } = chain
    await tx`delete from chain_links where repository_id = ${repository_id} and index = ${index}`
    await tx`
      insert into chain_links (
        org_id, provider, repository_id, index, kind, change_id, at, previous_hash, hash, body, tombstone, mac
      )
      select org_id, provider, ${repository_id}, ${index}, kind, change_id, at, previous_hash, hash, body, tombstone, mac
      from chain_links
      where repository_id = ${from.repository_id}
        and index = ${source % (await lengthOf(tx, from))}`
    return { chain, index: Math.min(index, length - 1) }
  }
}

/**
 * Changes a record, and recomputes everything that needs no key, so that the hashes are right
 * again.
 */
function rewrite(nth: number): Tampering {
  return async (tx) => {
    const chain = chains[nth % chains.length] as ChainKey
    const { repository_id } = chain
    const links = await tx<{ index: number; hash: Buffer; previous_hash: Buffer | null; body: string | null }[]>`
      select index, hash, previous_hash, body
      from chain_links
      where repository_id = ${repository_id}
      order by index`
    const index = nth % links.length
    let previous = links[index]?.previous_hash ?? null
    for (const link of links.slice(index)) {
      if (link.body === null) return null
      const body = link.index === index ? link.body.replace(/"/, '" ') : link.body
      const hash = linkHash(previous, body)
      await tx`
        update chain_links
        set body = ${body}, previous_hash = ${previous}, hash = ${hash}
        where repository_id = ${repository_id}
          and index = ${link.index}`
      await tx`update log_entries set sha256 = ${hash} where sha256 = ${link.hash}`
      await tx`
        update chain_anchors
        set hash = ${hash}
        where repository_id = ${repository_id}
          and index = ${link.index}`
      previous = hash
    }
    await tx`update provenance_chains set head = ${previous} where repository_id = ${repository_id}`
    return { chain, index }
  }
}

async function tryTampering(tampering: Tampering): ReturnType<Tampering> {
  const made: { place: Awaited<ReturnType<Tampering>> } = { place: null }
  try {
    await tamper(api, async (tx) => {
      made.place = await tampering(tx)
    })
    return made.place
  } catch (error) {
    // The text is no value of the type, or the key exists: nothing was changed.
    const state = getSqlState(error)
    if (state === UNIQUE_VIOLATION || state?.startsWith('22')) return null
    throw error
  }
}

/** The walk stores what it finds, so `verifyLink` gets the same change of an unchanged database. */
async function assertFound(tampering: Tampering): Promise<void> {
  try {
    fc.pre((await tryTampering(tampering)) !== null)
    assert.notEqual(await findBreaks(), 0, 'the walk finds nothing')
    await restore()
    const place = await tryTampering(tampering)
    assert.ok(place)
    const { state } = await verifyLink(api.services, place.chain, place.index)
    assert.equal(state, 'broken', 'verifyLink finds nothing')
  } finally {
    await restore()
  }
}

test('nothing is found before the database is changed', async () => {
  assert.equal(await findBreaks(), 0)
})

test('a change of any column of any row is found', async () => {
  const columns = await listColumns()
  assert.ok(columns.length > 40)
  const number = fc.nat(100_000)
  for (const column of columns) {
    const runs = fc.asyncProperty(number, number, fc.integer({ min: 1, max: 93 }), (nth, at, by) =>
      assertFound(changeColumn(column, nth, at, by)),
    )
    await fc.assert(runs, { numRuns: Math.ceil(RUNS / 50) }).catch((error) => {
      throw new Error(`${column.table}.${column.column}: ${error.message}`, { cause: error })
    })
  }
})

const number = fc.nat(1_000_000)
const OTHERS: [tampering: string, arbitrary: fc.Arbitrary<Tampering>][] = [
  ['a deleted row', fc.tuple(fc.constantFrom(...TABLES), number).map(([table, nth]) => deleteRow(table, nth))],
  ['two links in each other’s place', fc.tuple(number, number).map(([nth, other]) => swapLinks(nth, other))],
  ['a truncated end', fc.tuple(number, number).map(([nth, count]) => truncate(nth, count))],
  ['a link of another chain', fc.tuple(number, number).map(([nth, source]) => copyLink(nth, source))],
  ['a rewritten chain with right hashes', number.map((nth) => rewrite(nth))],
]

for (const [tampering, arbitrary] of OTHERS) {
  test(`${tampering} is found`, async () => {
    await fc.assert(fc.asyncProperty(arbitrary, assertFound), { numRuns: Math.ceil(RUNS / 8) })
  })
}
