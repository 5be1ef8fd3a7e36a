import type { Lane } from '../../ci/runs/trust.ts'
import type { Db } from '../../platform/db/sql.ts'

/**
 * What has one stream of matches: the content is the union of the newest documents of all tools
 * with this category, ref, subject and lane.
 */
export type MatchScope = {
  org_id: string
  repository_no: number
  category: string | null
  git_ref: string | null
  subject: string | null
  lane: Lane
}

/** A component of a scope as one document has it. */
export type PresentComponent = {
  component_no: number
  purl: string
  type: string
  namespace: string | null
  name: string
  version: string | null
  source_name: string | null
  source_version: string | null
  path: string | null
  patched: string[]
  /** The operating system of the document, as `debian-12`. */
  operating_system: string | null
  /** Other tools have replaced the one that wrote the document: the component is not present. */
  is_replaced: boolean
}

/** The newest document of a scope. */
export type NewestOfScope = { git_ref: string | null; commit_sha: string | null; tracked: boolean; reported_at: Date }

/** Null if no document of the scope is stored. */
export async function findNewestOfScope(db: Db, scope: MatchScope): Promise<NewestOfScope | null> {
  const [row] = await db<NewestOfScope[]>`
    select git_ref, commit_sha, tracked, reported_at
    from inventory_streams stream
    where ${isOfScope(db, scope)}
      and upload_id is not null
    order by reported_at desc, id desc
    limit 1`
  return row ?? null
}

/**
 * The components with package URLs of a scope: all, or those of packages with these names. What is
 * held is present. Includes those of replaced documents.
 */
export async function listPresent(db: Db, scope: MatchScope, names: string[] | null): Promise<PresentComponent[]> {
  return db<PresentComponent[]>`
    select component.no as component_no, component.purl, component.type, component.namespace, component.name,
      component.version, component.source_name, component.source_version, facts.path, facts.patched,
      newest.operating_system, stream.ended_at is not null as is_replaced
    from inventory_streams stream
    left join lateral (
      select sbom.operating_system
      from sboms sbom
      where sbom.org_id = stream.org_id
        and sbom.stream_id = stream.id
        and not sbom.is_older
      order by sbom.created_at desc, sbom.no desc
      limit 1
    ) newest on true
    cross join lateral unnest(stream.present) number
    join component_facts facts on facts.org_id = stream.org_id and facts.no = number
    join components component on component.org_id = facts.org_id and component.no = facts.component_no
    where ${isOfScope(db, scope)}
      and component.identity = 'purl'
      ${names === null ? db`` : db`and (component.package_key = any(${names}) or component.source_name = any(${names}))`}`
}

function isOfScope(db: Db, { org_id, repository_no, category, git_ref, subject, lane }: MatchScope) {
  return db`
    stream.org_id = ${org_id}
    and stream.repository_no = ${repository_no}
    and coalesce(stream.category, '') = coalesce(${category}::text, '')
    and branch_name(stream.git_ref) = branch_name(${git_ref})
    and coalesce(stream.subject, '') = coalesce(${subject}::text, '')
    and stream.lane = ${lane}`
}

/** A scope with the lowest id of its streams of documents. */
export type NumberedScope = MatchScope & { id: number }

type ScopePage = { after: number; limit: number }

/**
 * The scopes after one, in the order of their ids: all, or those in which packages with these names
 * are present.
 */
export async function listScopes(
  db: Db,
  orgId: string,
  names: string[] | null,
  { after, limit }: ScopePage,
): Promise<NumberedScope[]> {
  const numbers = db`(
    select coalesce(array_agg(facts.no), '{}')
    from components component
    join component_facts facts on facts.org_id = component.org_id and facts.component_no = component.no
    where component.org_id = ${orgId}
      and (component.package_key = any(${names}) or component.source_name = any(${names}))
  )`
  return db<NumberedScope[]>`
    select min(stream.id) as id, stream.org_id, stream.repository_no, nullif(coalesce(stream.category, ''), '') as category,
      nullif(branch_name(stream.git_ref), '') as git_ref, nullif(coalesce(stream.subject, ''), '') as subject, stream.lane
    from inventory_streams stream
    where stream.org_id = ${orgId}
      and stream.upload_id is not null
      ${names === null ? db`` : db`and stream.present && ${numbers}`}
    group by stream.org_id, stream.repository_no, coalesce(stream.category, ''), branch_name(stream.git_ref),
      coalesce(stream.subject, ''), stream.lane
    having min(stream.id) > ${after}
    order by min(stream.id)
    limit ${limit}`
}

/** Those of some names under which the organization has packages. */
export async function listKnownNames(db: Db, orgId: string, names: string[]): Promise<string[]> {
  const isNamed = (column: ReturnType<Db>) => db`
    exists (
      select from components component
      where component.org_id = ${orgId}
        and component.${column} = name
    )`
  const rows = await db<{ name: string }[]>`
    select name
    from unnest(${names}::text[]) name
    where ${isNamed(db`package_key`)}
      or ${isNamed(db`source_name`)}`
  return rows.map(({ name }) => name)
}

/** The names under which advisories may know the components with these facts. */
export async function listPackageNames(db: Db, orgId: string, numbers: readonly number[]): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct named.name
    from component_facts facts
    join components component on component.org_id = facts.org_id and component.no = facts.component_no
    cross join lateral unnest(array[component.package_key, component.source_name]) named (name)
    where facts.org_id = ${orgId}
      and facts.no = any(${[...numbers]}::bigint[])
      and named.name is not null`
  return rows.map(({ name }) => name)
}
