import { buildTimedIdsCondition, hasOpenStart } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { formatPackageKey } from './package-key.ts'

/** Which components a list contains; null for all. */
export type ComponentFilters = {
  purl: { type: string; namespace: string | null; package_key: string; version: string | null } | null
  package: { name: string; isPrefix: boolean } | null
  ecosystem: string | null
  /** The type of package URLs of the ecosystem. */
  type: string | null
  version: string | null
  license: string | null
  direct: boolean | null
  present: 'true' | 'false' | 'any'
  repositoryNos: number[] | null
  provider: string | null
}

/**
 * One page of components, the last that were seen first at the top, and one more if there is a
 * next page.
 */
export async function listComponents(db: Db, orgId: string, page: Page, filters: ComponentFilters): Promise<PageRow[]> {
  const present = isPresent(db, { ...filters, present: 'true' })
  return db<PageRow[]>`
    select picked.first_seen_at as created_at, picked.id, ${componentJson(db, null)} as json
    from (
      select component.*, facts.numbers
      from components component
      ${joinFacts(db)}
      where component.org_id = ${orgId}
        and ${buildTimedIdsCondition(db, page, db`component`, present)}
        and ${isSelected(db, filters)}
        and ${isPresent(db, filters)}
      order by component.id desc
      limit ${page.limit + 1}
    ) picked
    order by picked.id desc`
}

/**
 * A component with its first occurrences, as JSON; null if the organization has none with this
 * id.
 */
export async function findComponent(db: Db, orgId: string, id: string): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${componentJson(db, OCCURRENCES_SHOWN)} as json
    from (
      select component.*, facts.numbers
      from components component
      ${joinFacts(db)}
      where component.org_id = ${orgId}
        and component.id = ${id}
    ) picked`
  return row?.json ?? null
}

const OCCURRENCES_SHOWN = 100

/** One page of where a component is or was, by stream and facts. Null for an unknown component. */
export async function listOccurrences(db: Db, orgId: string, id: string, page: Page): Promise<PageRow[] | null> {
  const [component] = await db<{ no: number }[]>`
    select no
    from components
    where org_id = ${orgId}
      and id = ${id}`
  if (component === undefined) return null
  const { after } = page
  return db<PageRow[]>`
    select occurrence.first_seen_at as created_at, occurrence.id, ${occurrenceJson(db)} as json
    from (${selectOccurrences(db, db`${orgId}`, db`(select array_agg(no) from component_facts where org_id = ${orgId} and component_no = ${component.no})`)}) occurrence
    where (occurrence.first_seen_at >= ${page.since} or ${hasOpenStart(page)} and coalesce(occurrence.removed_at, 'infinity') >= ${page.since})
      and ${after === null ? db`occurrence.first_seen_at <= ${page.until}` : db`(occurrence.first_seen_at, occurrence.id) < (${after.created_at}, ${after.id})`}
    order by occurrence.first_seen_at desc, occurrence.id desc
    limit ${page.limit + 1}`
}

/** The numbers of a component's facts, once for each component. */
function joinFacts(db: Db) {
  return db`
    cross join lateral (
      select coalesce(array_agg(no), '{}') as numbers
      from component_facts
      where org_id = component.org_id
        and component_no = component.no
      offset 0
    ) facts`
}

function isSelected(db: Db, { purl, package: named, ecosystem, type, version, license }: ComponentFilters) {
  return db`
    true
    ${purl === null ? db`` : db`and component.type = ${purl.type} and component.package_key = ${purl.package_key}`}
    ${purl === null || purl.version === null ? db`` : db`and component.version = ${purl.version}`}
    ${purl === null || purl.namespace === null ? db`` : db`and lower(component.namespace) = lower(${purl.namespace})`}
    ${named === null ? db`` : db`and (${isNamed(db, db`component.package_key`, named)} or ${isNamed(db, db`component.name_key`, named)})`}
    ${ecosystem === null ? db`` : db`and (lower(component.ecosystem) = lower(${ecosystem}) or component.type = ${type})`}
    ${version === null ? db`` : db`and component.version = ${version}`}
    ${
      license === null
        ? db``
        : db`and exists (
            select from component_facts stated
            cross join unnest(stated.licenses) expression
            where stated.org_id = component.org_id
              and stated.component_no = component.no
              and lower(${license}) = any(regexp_split_to_array(lower(expression), '[() ]+'))
          )`
    }`
}

/** Types whose names have several spellings, with one of the keys that a name can have. */
const KEYED_TYPES = ['golang', 'nuget', 'composer', 'hex', 'pub', 'githubactions', 'pypi']

/** Names are compared by the key of the component's type. */
function isNamed(db: Db, column: ReturnType<Db>, { name, isPrefix }: { name: string; isPrefix: boolean }) {
  const isKey = (key: string) =>
    isPrefix ? db`${column} like ${`${key.replace(/[\\%_]/g, '\\$&')}%`}` : db`${column} = ${key}`
  return db`(
    (${isKey(name)} and component.type <> all(${KEYED_TYPES}))
    or (${isKey(name.toLowerCase())} and component.type = any(${KEYED_TYPES}) and component.type <> 'pypi')
    or (${isKey(formatPackageKey('golang', name))} and component.type = 'golang')
    or (${isKey(formatPackageKey('pypi', name))} and component.type = 'pypi')
  )`
}

/** Present is what is in the newest document of a stream. */
function isPresent(db: Db, { direct, present, repositoryNos, provider }: ComponentFilters) {
  const ofRepository = db`
    ${repositoryNos === null ? db`` : db`and stream.repository_no = any(${repositoryNos}::bigint[])`}
    ${
      provider === null
        ? db``
        : db`and exists (
            select from reported_repositories repository
            where repository.org_id = stream.org_id
              and repository.id = stream.repository_no
              and repository.provider = ${provider}
          )`
    }`
  const isIn = db`exists (
    select from inventory_streams stream
    where stream.org_id = component.org_id
      and stream.present && facts.numbers
      and stream.ended_at is null
      ${ofRepository}
      ${direct === null ? db`` : db`and ${isDirect(db, db`facts.numbers`)} = ${direct}`}
  )`
  // What a replaced tool had left is no longer present, either.
  const was = db`(exists (
    select from inventory_streams stream
    where stream.org_id = component.org_id
      and stream.present && facts.numbers
      and stream.ended_at is not null
      ${ofRepository}
  ) or exists (
    select from sboms sbom
    join inventory_streams stream on stream.org_id = sbom.org_id and stream.id = sbom.stream_id
    where sbom.org_id = component.org_id
      and sbom.removed && facts.numbers
      and sbom.removed <> '{}'
      ${ofRepository}
  ))`
  if (present === 'true') return isIn
  return present === 'false' ? db`(not ${isIn} and ${was})` : db`(${isIn} or ${was})`
}

/**
 * Whether a row `stream` has one of these facts directly below the root; null if it does not
 * state that.
 */
function isDirect(db: Db, numbers: ReturnType<Db>) {
  return db`(
    select bool_or(stream.parents[array_position(stream.present, number)] = -1)
    from unnest(${numbers}) number
  )`
}

const REPOSITORIES_SHOWN = 10

/** `picked` is a component with the numbers of its facts. */
function componentJson(db: Db, occurrences: number | null) {
  const first = db`(
    select coalesce(json_agg(${occurrenceJson(db)}::json order by occurrence.first_seen_at desc, occurrence.id desc), '[]')
    from (
      select *
      from (${selectOccurrences(db, db`picked.org_id`, db`picked.numbers`)}) every
      order by first_seen_at desc, id desc
      limit ${occurrences ?? 0}
    ) occurrence
  )`
  return db`(
    select row_to_json(item)::text
    from (
      select picked.id, picked.purl, picked.cpe, picked.identity, picked.type, picked.ecosystem, picked.namespace,
        picked.name, picked.version,
        array(
          select distinct license
          from component_facts stated
          cross join unnest(stated.licenses) license
          where stated.org_id = picked.org_id
            and stated.component_no = picked.no
          order by license
        ) as licenses,
        places.direct,
        json_build_object('count', places.repositories, 'names', places.names) as repositories,
        rfc3339(picked.first_seen_at) as first_seen_at, rfc3339(places.last_seen_at) as last_seen_at
        ${occurrences === null ? db`` : db`, ${first} as occurrences`}
      from (
        select bool_or(${isDirect(db, db`picked.numbers`)}) as direct, count(distinct stream.repository_no) as repositories,
          max(stream.seen_at) as last_seen_at,
          array(
            select repository.name
            from reported_repositories repository
            where repository.org_id = picked.org_id
              and repository.id = any(array_agg(stream.repository_no))
            order by repository.name, repository.id
            limit ${REPOSITORIES_SHOWN}
          ) as names
        from inventory_streams stream
        where stream.org_id = picked.org_id
          and stream.present && picked.numbers
          and stream.ended_at is null
      ) places
    ) item
  )`
}

/** Where the facts with these numbers are in a stream, and where a document removed them. */
function selectOccurrences(db: Db, orgId: ReturnType<Db>, numbers: ReturnType<Db>) {
  const stream = db`stream.org_id, stream.id as stream_id, stream.repository_no, stream.category, stream.git_ref,
    stream.tracked, stream.lane, stream.commit_sha, stream.upload_id`
  return db`
    select ${stream}, number as facts_no, format('%s:%s', stream.id, number) collate "C" as id,
      stream.parents[array_position(stream.present, number)] = -1 as direct,
      stream.since[array_position(stream.present, number)] as first_seen_at, stream.seen_at as last_seen_at,
      stream.ended_at as removed_at
    from inventory_streams stream
    cross join unnest(${numbers}) number
    where stream.org_id = ${orgId}
      and stream.present && ${numbers}
      and number = any(stream.present)
    union all
    select ${stream}, number, format('%s:%s:%s', stream.id, number, sbom.no) collate "C", null,
      sbom.removed_since[array_position(sbom.removed, number)], sbom.created_at, sbom.created_at
    from sboms sbom
    join inventory_streams stream on stream.org_id = sbom.org_id and stream.id = sbom.stream_id
    cross join unnest(${numbers}) number
    where sbom.org_id = ${orgId}
      and sbom.removed && ${numbers}
      and sbom.removed <> '{}'
      and not sbom.is_older
      and number = any(sbom.removed)
      and number <> all(stream.held)`
}

/** `occurrence` is a row of `selectOccurrences`. What is removed is not about the newest commit. */
function occurrenceJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select repository.name as repository, repository.provider, repository.provider_id as repository_id,
        occurrence.category, occurrence.git_ref, occurrence.tracked, occurrence.lane,
        case when occurrence.removed_at is null then occurrence.commit_sha end as commit_sha,
        case when occurrence.removed_at is null then upload.run_id end as run_id,
        facts.path, facts.scope, occurrence.direct, facts.licenses, rfc3339(occurrence.first_seen_at) as first_seen_at,
        rfc3339(occurrence.last_seen_at) as last_seen_at, rfc3339(occurrence.removed_at) as removed_at
      from reported_repositories repository
      join component_facts facts on facts.org_id = repository.org_id and facts.no = occurrence.facts_no
      left join security_uploads upload on upload.org_id = repository.org_id and upload.id = occurrence.upload_id
      where repository.org_id = occurrence.org_id
        and repository.id = occurrence.repository_no
    ) item
  )`
}
