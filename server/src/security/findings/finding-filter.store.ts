import type { Db } from '../../platform/db/sql.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositorySelection } from '../repositories/select-repository.ts'
import { FINDING_KINDS, FINDING_STATES, type FindingKind, type FindingState } from '../vocabulary/finding.ts'
import { SEVERITIES, type Severity } from '../vocabulary/severity.ts'

type FacetFilters = { state: FindingState | null; severity: Severity | null; kind: FindingKind | null }
type StreamFilters = { scanner: string | null; category: string | null; gitRef: string | null }

/** The filters of a list of findings besides those by repository. Null for none. */
export type FindingFilters = FacetFilters &
  StreamFilters & {
    /** What the path begins with. */
    path: string | null
    issueId: string | null
    firstSeenSince: Date | null
  }

export function hasFacetFilters({ state, severity, kind }: FacetFilters): boolean {
  return state !== null || severity !== null || kind !== null
}

export function hasStreamFilters({ scanner, category, gitRef }: StreamFilters): boolean {
  return scanner !== null || category !== null || gitRef !== null
}

/** The facets that the filters select. */
export function buildFacets(db: Db, { state, severity, kind }: FacetFilters) {
  return db`
    select finding_facet(state, severity, kind) as no
    from unnest(${state === null ? FINDING_STATES : [state]}::text[]) state
    cross join unnest(${severity === null ? SEVERITIES : [severity]}::text[]) severity
    cross join unnest(${kind === null ? FINDING_KINDS : [kind]}::text[]) kind`
}

/**
 * The condition that a row has one of these facets. `+ 0` keeps the planner from reading the
 * findings by their facet.
 */
export function buildFacetCondition(db: Db, row: ReturnType<Db>, filters: FacetFilters) {
  return hasFacetFilters(filters) ? db`and ${row}.facet + 0 = any(array(${buildFacets(db, filters)})::integer[])` : db``
}

type StreamSelection = RepositorySelection & StreamFilters

export function isOfAllStreams(selection: StreamSelection): boolean {
  return selection.repositoryNos === null && selection.provider === null && !hasStreamFilters(selection)
}

/** The ids of the streams that the filters select. */
export function buildStreams(db: Db, orgId: string, selection: StreamSelection) {
  return db`
    select stream.id
    from finding_streams stream
    where stream.org_id = ${orgId}
      ${streamConditions(db, orgId, selection)}`
}

/**
 * The condition that `finding` is of one of these streams, as a look-up per row: `offset 0` keeps
 * the planner from joining all streams.
 */
export function buildStreamCondition(db: Db, orgId: string, selection: StreamSelection) {
  if (isOfAllStreams(selection)) return db``
  return db`
    and exists (
      select from finding_streams stream
      where stream.org_id = ${orgId}
        and stream.id = finding.stream_id
        ${streamConditions(db, orgId, selection)}
      offset 0
    )`
}

function streamConditions(db: Db, orgId: string, selection: StreamSelection) {
  const { repositoryNos, provider, scanner, category, gitRef } = selection
  return db`
    ${repositoryNos === null ? db`` : db`and stream.repository_no = any(${repositoryNos}::bigint[])`}
    ${buildProviderCondition(db, orgId, db`stream`, provider)}
    ${scanner === null ? db`` : db`and stream.tool = ${scanner}`}
    ${category === null ? db`` : db`and stream.category = ${category}`}
    ${gitRef === null ? db`` : db`and branch_name(stream.git_ref) = branch_name(${gitRef})`}`
}

/** After every character of a path, in the order of bytes. */
const LAST_CHARACTER = '\u{10ffff}'

/** The condition that a path begins with this text, as a range in the order of bytes. */
export function buildPrefixCondition(db: Db, column: ReturnType<Db>, text: string) {
  return db`(${column} collate "C" >= ${text} and ${column} collate "C" < ${text + LAST_CHARACTER})`
}

/** The condition that the path of `finding` begins with this text. */
export function buildPathCondition(db: Db, path: string | null) {
  return path === null ? db`` : db`and ${buildPrefixCondition(db, db`finding.path`, path)}`
}
