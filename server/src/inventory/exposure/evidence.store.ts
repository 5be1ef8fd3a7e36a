import type { Lane, TrustClass } from '../../ci/runs/trust.ts'
import { buildLiveDeployments } from '../../deployments/live-deployment.store.ts'
import type { Db } from '../../platform/db/sql.ts'

/** A deployment that runs, with where what is known of its contents is kept. */
export type LiveDeployment = {
  id: string
  repository: string
  environment: string
  provider: string | null
  /** `host/owner/name`, or `owner/name` if the host is unknown. */
  address: string
  trust: TrustClass
  since: Date
  commit_sha: string | null
  run_id: string | null
  approvals: object[]
  /** When its run was created, if its host says so, or itself. */
  begun_at: Date
  /** The provider of its repository, and its id there; both empty if it is known by its address. */
  unit_provider: string
  unit_repository: string
}

/** What runs, in the order of repository, environment and id. */
export async function listLiveDeployments(db: Db, orgId: string): Promise<LiveDeployment[]> {
  return db<LiveDeployment[]>`
    select live.id, live.repository_full_name as repository, live.environment, live.provider,
      case when live.host is null then live.repository_full_name else live.host || '/' || live.repository_full_name end
        as address,
      live.lane as trust, live.since, live.commit_sha, live.pipeline_run_id as run_id, live.approvals,
      live.begun_at, live.unit::jsonb ->> 0 as unit_provider,
      live.unit::jsonb ->> 1 as unit_repository
    from (${buildLiveDeployments(db, orgId)}) live
    order by live.repository_full_name, live.environment, live.id`
}

/** A document that is evidence of a deployment. */
export type EvidenceDocument = {
  deployment_id: string
  evidence: 'digest' | 'commit' | 'inferred'
  no: number
  stream_id: number
  is_older: boolean
  lane: Lane
  is_cut: boolean
  operating_system: string | null
  package_types: string[]
  /** The digests of what it is about. Empty if it only names a commit. */
  digests: string[]
  /** Digests that are only its version, which count where somebody else names them. */
  versions: string[]
}

export type EvidenceQuestion = Pick<LiveDeployment, 'id' | 'commit_sha' | 'begun_at'> & { repository_nos: number[] }

/** What untrusted senders say is evidence of nothing (trust §1). */
function ofTrusted(db: Db) {
  return db`stream.lane <> 'untrusted'`
}

function documentColumns(db: Db) {
  return db`sbom.no, sbom.stream_id, sbom.is_older, stream.lane, sbom.skipped > 0 or sbom.truncated as is_cut,
    sbom.operating_system, sbom.package_types,
    array(
      select named.value ->> 'sha256'
      from jsonb_array_elements(sbom.subjects) named (value)
      where named.value -> 'stated' is null
    ) as digests,
    array(
      select named.value ->> 'sha256'
      from jsonb_array_elements(sbom.subjects) named (value)
      where named.value -> 'stated' is not null
    ) as versions`
}

function askedRows(db: Db, asked: readonly EvidenceQuestion[]) {
  return db`json_to_recordset(${JSON.stringify(asked)}::text::json) as asked (
    id text, commit_sha text, begun_at timestamptz, repository_nos bigint[]
  )`
}

/** The documents about exactly the commits of deployments: of each stream the newest. */
export async function listCommitDocuments(
  db: Db,
  orgId: string,
  asked: readonly EvidenceQuestion[],
): Promise<EvidenceDocument[]> {
  return db<EvidenceDocument[]>`
    select distinct on (asked.id, sbom.stream_id) asked.id as deployment_id, 'commit' as evidence, ${documentColumns(db)}
    from ${askedRows(db, asked)}
    join sbom_commits about on about.org_id = ${orgId} and about.commit_sha = asked.commit_sha
    join sboms sbom on sbom.org_id = ${orgId} and sbom.no = about.sbom_no
    join inventory_streams stream on stream.org_id = ${orgId} and stream.id = sbom.stream_id
    where stream.repository_no = any(asked.repository_nos)
      and ${ofTrusted(db)}
    order by asked.id, sbom.stream_id, about.reported_at desc, sbom.no desc`
}

/** A digest of a subject of a deployment: its own, or that of the manifest of a platform. */
export type AskedSubject = { deployment_id: string; sha256: string }

/** The documents about subjects of deployments, by their digests: of each stream the newest. */
export async function listDigestDocuments(
  db: Db,
  orgId: string,
  asked: readonly AskedSubject[],
): Promise<(EvidenceDocument & { sha256: string })[]> {
  if (asked.length === 0) return []
  return db<(EvidenceDocument & { sha256: string })[]>`
    select distinct on (asked.deployment_id, asked.sha256, sbom.stream_id) asked.deployment_id, asked.sha256,
      'digest' as evidence, ${documentColumns(db)}
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as asked (deployment_id text, sha256 text)
    join sboms sbom on sbom.org_id = ${orgId}
      and sbom.subjects @> jsonb_build_array(jsonb_build_object('sha256', asked.sha256))
    join inventory_streams stream on stream.org_id = ${orgId} and stream.id = sbom.stream_id
    where ${ofTrusted(db)}
    order by asked.deployment_id, asked.sha256, sbom.stream_id, sbom.created_at desc, sbom.no desc`
}

/**
 * The newest documents of the tracked branches that were there when the runs of deployments began
 * (decisions §11).
 */
export async function listInferredDocuments(
  db: Db,
  orgId: string,
  asked: readonly EvidenceQuestion[],
): Promise<EvidenceDocument[]> {
  return db<EvidenceDocument[]>`
    select asked.id as deployment_id, 'inferred' as evidence, ${documentColumns(db)}
    from ${askedRows(db, asked)}
    join inventory_streams stream on stream.org_id = ${orgId}
      and stream.repository_no = any(asked.repository_nos)
      and stream.tracked
      and ${ofTrusted(db)}
    cross join lateral (
      select document.*
      from sboms document
      where document.org_id = ${orgId}
        and document.stream_id = stream.id
        and not document.is_older
        and document.created_at <= asked.begun_at
      order by document.created_at desc, document.no desc
      limit 1
    ) sbom`
}

/** What documents state of a component that advisories may be about. */
export type CandidateFacts = {
  no: number
  component_no: number
  component_id: string
  purl: string | null
  type: string
  namespace: string | null
  name: string
  version: string | null
  source_name: string | null
  source_version: string | null
  scope: string | null
  path: string | null
  patched: string[]
}

/** The components with one of these names, of any ecosystem. `keys` are those of packages. */
export async function listCandidates(db: Db, orgId: string, keys: readonly string[]): Promise<CandidateFacts[]> {
  return db<CandidateFacts[]>`
    select facts.no, component.no as component_no, component.id as component_id, component.purl, component.type,
      component.namespace, component.name, component.version, component.source_name, component.source_version,
      facts.scope, facts.path, facts.patched
    from components component
    join component_facts facts on facts.org_id = component.org_id and facts.component_no = component.no
    where component.org_id = ${orgId}
      and (component.package_key = any(${[...keys]}::text[]) or component.source_name = any(${[...keys]}::text[]))
    order by facts.no`
}

/** A stream with the facts, of those that were asked for, that its newest document has. */
export type StreamFacts = {
  id: number
  repository_no: number
  category: string | null
  git_ref: string | null
  lane: Lane
  operating_system: string | null
  /** Others have replaced its tool: what it has is no longer present. */
  is_ended: boolean
  facts: { no: number; direct: boolean | null }[]
}

export async function listStreamFacts(db: Db, orgId: string, numbers: readonly number[]): Promise<StreamFacts[]> {
  return db<StreamFacts[]>`
    select stream.id, stream.repository_no, stream.category, stream.git_ref, stream.lane,
      stream.ended_at is not null as is_ended,
      (
        select sbom.operating_system
        from sboms sbom
        where sbom.org_id = ${orgId}
          and sbom.stream_id = stream.id
          and not sbom.is_older
        order by sbom.created_at desc, sbom.no desc
        limit 1
      ) as operating_system,
      (
        select coalesce(json_agg(json_build_object('no', found.no, 'direct', stream.parents[found.at] = -1)), '[]')
        from (
          select asked.no, array_position(stream.present, asked.no) as at
          from unnest(${[...numbers]}::bigint[]) asked (no)
          where asked.no <> all(stream.held)
        ) found
        where found.at is not null
      ) as facts
    from inventory_streams stream
    where stream.org_id = ${orgId}
      and stream.present && ${[...numbers]}::bigint[]
      and ${ofTrusted(db)}`
}

/** How a later document of a stream differs, among the facts that were asked for. */
export type DocumentChange = { no: number; later_no: number; added: number[]; removed: number[] }

/**
 * What later documents changed of facts, the newest first, and with `later_no` 0 what an older
 * document differs in from the newest one of its time.
 */
export async function listDocumentChanges(
  db: Db,
  orgId: string,
  documents: readonly Pick<EvidenceDocument, 'no' | 'stream_id' | 'is_older'>[],
  numbers: readonly number[],
): Promise<DocumentChange[]> {
  const asked = db`${[...numbers]}::bigint[]`
  const inBoth = (list: ReturnType<Db>) => db`array(select fact from unnest(${list}) fact where fact = any(${asked}))`
  return db<DocumentChange[]>`
    select document.no, case when later.no = document.no then 0 else later.no end as later_no,
      ${inBoth(db`later.added`)} as added, ${inBoth(db`later.removed`)} as removed
    from json_to_recordset(${JSON.stringify(documents)}::text::json) as document (
      no bigint, stream_id bigint, is_older boolean
    )
    join sboms later on later.org_id = ${orgId}
      and later.stream_id = document.stream_id
      and ((later.no > document.no and not later.is_older) or (later.no = document.no and document.is_older))
    where later.added && ${asked}
      or later.removed && ${asked}
    order by document.no, later_no desc`
}
