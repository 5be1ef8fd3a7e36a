import { hash } from 'node:crypto'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuidSeries } from '../../platform/ids.ts'
import type { IdentifiedComponent } from '../components/component-identity.ts'
import type { ComponentFacts, SbomComponent } from './sbom.ts'

/**
 * Stores the components of a document and what it states about them, where they are not stored yet.
 * Returns the number of each component's facts, in the order of the components. Rows are inserted
 * in the order of their hashes, so that documents that are read at the same time wait for each
 * other and do not deadlock.
 */
export async function insertComponents(
  tx: Tx,
  orgId: string,
  components: readonly SbomComponent[],
  at: Date,
): Promise<number[]> {
  const byHash = new Map(components.map(({ component }) => [component.hash.toString('hex'), component]))
  const numbers = await insertMissing(byHash, {
    list: (hashes) => listNumbers(tx, orgId, hashes, false),
    insert: (missing) => insertIdentities(tx, orgId, missing, at),
  })
  const stated = components.map(({ component, facts }) => {
    const component_no = numbers.get(component.hash.toString('hex')) as number
    return { ...facts, component_no, hash: hashFacts(component_no, facts) }
  })
  const factsNumbers = await insertMissing(new Map(stated.map((facts) => [facts.hash, facts])), {
    list: (hashes) => listNumbers(tx, orgId, hashes, true),
    insert: (missing) => insertFacts(tx, orgId, missing),
  })
  return stated.map((facts) => factsNumbers.get(facts.hash) as number)
}

type HashedTable<Row> = {
  list(hashes: readonly string[]): Promise<Map<string, number>>
  insert(missing: Row[]): Promise<void>
}

/** The numbers by hash in hexadecimal, of rows that exist or are inserted. */
async function insertMissing<Row>(
  rows: ReadonlyMap<string, Row>,
  { list, insert }: HashedTable<Row>,
): Promise<Map<string, number>> {
  const hashes = [...rows.keys()].sort()
  const found = await list(hashes)
  const missing = hashes.filter((each) => !found.has(each))
  if (missing.length === 0) return found
  await insert(missing.map((each) => rows.get(each) as Row))
  // Rows that another document has inserted meanwhile are visible to the next statement.
  for (const [each, no] of await list(missing)) found.set(each, no)
  return found
}

async function listNumbers(
  tx: Tx,
  orgId: string,
  hashes: readonly string[],
  areFacts: boolean,
): Promise<Map<string, number>> {
  const wanted = tx`(select decode(hex, 'hex') from unnest(${[...hashes]}::text[]) hex)`
  const rows = await tx<{ hex: string; no: number }[]>`
    select encode(${areFacts ? tx`facts_hash` : tx`identity_hash`}, 'hex') as hex, no
    from ${areFacts ? tx`component_facts` : tx`components`}
    where org_id = ${orgId}
      and ${areFacts ? tx`facts_hash` : tx`identity_hash`} in ${wanted}`
  return new Map(rows.map(({ hex, no }) => [hex, no]))
}

async function insertIdentities(
  tx: Tx,
  orgId: string,
  components: readonly IdentifiedComponent[],
  at: Date,
): Promise<void> {
  const createId = createUuidSeries(at)
  const rows = components.map(({ hash: identity_hash, ...component }, position) => ({
    ...component,
    id: createId(position),
    hex: identity_hash.toString('hex'),
  }))
  await tx`
    insert into components (
      org_id, id, identity, identity_hash, purl, cpe, type, ecosystem, namespace, name, version, package_key, name_key,
      source_name, source_version, first_seen_at
    )
    select ${orgId}, id, identity, decode(hex, 'hex'), purl, cpe, type, ecosystem, namespace, name, version, package_key,
      name_key, source_name, source_version, ${at}
    from jsonb_to_recordset(${tx.json(rows)}) as component (
      id uuid, identity text, hex text, purl text, cpe text, type text, ecosystem text, namespace text, name text,
      version text, package_key text, name_key text, source_name text, source_version text
    )
    order by decode(hex, 'hex')
    on conflict (org_id, identity_hash) do nothing`
}

type FactsToInsert = ComponentFacts & { component_no: number; hash: string }

async function insertFacts(tx: Tx, orgId: string, facts: readonly FactsToInsert[]): Promise<void> {
  await tx`
    insert into component_facts (
      org_id, component_no, facts_hash, purl, type, scope, licenses, supplier, hashes, path, patched
    )
    select ${orgId}, component_no, decode(hash, 'hex'), purl, type, scope,
      array(select jsonb_array_elements_text(licenses)), supplier, hashes, path,
      array(select jsonb_array_elements_text(patched))
    from jsonb_to_recordset(${tx.json([...facts])}) as facts (
      component_no bigint, hash text, purl text, type text, scope text, licenses jsonb, supplier text, hashes jsonb,
      path text, patched jsonb
    )
    order by decode(hash, 'hex')
    on conflict (org_id, facts_hash) do nothing`
}

function hashFacts(componentNo: number, facts: ComponentFacts): string {
  const { purl, type, scope, licenses, supplier, hashes, path, patched } = facts
  const parts = [componentNo, purl, type, scope, licenses, supplier, hashes, path, patched]
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32)
}
