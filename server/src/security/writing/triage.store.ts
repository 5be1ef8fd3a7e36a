import type { Db, Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { VEX_FORMATS } from '../formats/catalogue.ts'

export const TRIAGE_ACTIONS = ['dismiss', 'reopen', 'split', 'merge'] as const
type TriageAction = (typeof TRIAGE_ACTIONS)[number]

/** What states a triage: a person in Shiplock, or the format of a VEX document. */
export const TRIAGE_SOURCES = ['shiplock', ...VEX_FORMATS] as const
export type TriageSource = (typeof TRIAGE_SOURCES)[number]

/** What a dismissal reaches later: its issue, or a vulnerability at any place and version. */
export const TRIAGE_SCOPES = ['issue', 'vulnerability'] as const
export type TriageScope = (typeof TRIAGE_SCOPES)[number]

export type TriageTarget = { type: 'finding' | 'issue' | 'alert'; ids: readonly string[] }

/** Who triaged. Null for a document. */
type TriageAuthor = { id: string | null; name: string } | null

export type NewTriage = {
  action: TriageAction
  source: TriageSource
  target: TriageTarget
  /** Of a dismissal; its issue unless stated. */
  scope?: TriageScope
  /** Only of a dismissal, which has one. */
  reason: string | null
  comment: string | null
  expires_at: Date | null
  by: TriageAuthor
  at: Date
}

/** Stores a triage. It has no effect before something applies it. Returns its id. */
export async function insertTriage(tx: Tx, orgId: string, triage: NewTriage): Promise<string> {
  const { action, source, target, scope = 'issue', reason, comment, expires_at, by, at } = triage
  const id = createUuid(at)
  await tx`
    insert into triages (
      org_id, id, action, source, target_type, target_ids, scope, reason, comment, expires_at, created_by_id,
      created_by_name, created_at
    )
    values (
      ${orgId}, ${id}, ${action}, ${source}, ${target.type}, ${[...target.ids]}, ${scope}, ${reason}, ${comment}, ${expires_at},
      ${by?.id ?? null}, ${by?.name ?? null}, ${at}
    )`
  return id
}

/** SQL: who a row `triage` names as its author. Null for a person whose name is not known. */
export function buildTriageAuthor(db: Db) {
  return db`coalesce(triage.created_by_name, case when triage.source <> 'shiplock' then 'VEX document' end)`
}

/** `replaced`: a newer VEX document no longer states it. */
type TriageEnd = { as: 'undone' | 'expired' | 'replaced'; by: TriageAuthor; at: Date }

/** Ends triages that have not ended. Their findings are unchanged until they are settled. */
export async function updateEndedTriages(tx: Tx, orgId: string, ids: readonly string[], end: TriageEnd): Promise<void> {
  await tx`
    update triages
    set ended_as = ${end.as}, ended_by_id = ${end.by?.id ?? null}, ended_by_name = ${end.by?.name ?? null},
      ended_at = ${end.at}
    where org_id = ${orgId}
      and id = any(${ids}::uuid[])
      and ended_at is null`
}

/** The repositories of the findings and alerts of a triage, for `lockTriaged`. */
export async function listTriagedRepositories(db: Db, orgId: string, triageId: string): Promise<number[]> {
  const rows = await db<{ repository_no: number }[]>`
    select distinct finding.repository_no
    from (
      select finding_id
      from triage_findings
      where org_id = ${orgId}
        and triage_id = ${triageId}
      union
      select link.finding_id
      from triage_alerts part
      join alert_findings link on link.org_id = part.org_id and link.alert_id = part.alert_id
      where part.org_id = ${orgId}
        and part.triage_id = ${triageId}
    ) affected
    join findings finding on finding.org_id = ${orgId} and finding.id = affected.finding_id`
  return rows.map(({ repository_no }) => repository_no)
}

/** The names of the repositories of these issues. */
export async function listNamesOfIssues(db: Db, orgId: string, issueIds: readonly string[]): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct repository.name
    from security_issues issue
    join reported_repositories repository on repository.org_id = issue.org_id and repository.id = issue.repository_no
    where issue.org_id = ${orgId}
      and issue.id = any(${[...issueIds]}::uuid[])`
  return rows.map(({ name }) => name)
}

/** A triage that is about to end. */
type EndingTriage = { id: string; action: TriageAction; source: TriageSource; ended_as: string | null }

/** Locks a triage until the transaction ends. Returns null if it does not exist. */
export async function lockTriage(tx: Tx, orgId: string, id: string): Promise<EndingTriage | null> {
  const [triage] = await tx<EndingTriage[]>`
    select id, action, source, ended_as
    from triages
    where org_id = ${orgId}
      and id = ${id}
    for update`
  return triage ?? null
}

const LATER_LISTED_MAX = 100

/** Later triages by people, of findings or alerts of this one, that have not ended. */
export async function listLaterTriages(db: Db, orgId: string, id: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select later.id
    from (
      select other.triage_id
      from triage_findings part
      join triage_findings other on other.org_id = part.org_id and other.finding_id = part.finding_id and other.no > part.no
      where part.org_id = ${orgId}
        and part.triage_id = ${id}
      union
      select other.triage_id
      from triage_alerts part
      join triage_alerts other on other.org_id = part.org_id and other.alert_id = part.alert_id and other.no > part.no
      where part.org_id = ${orgId}
        and part.triage_id = ${id}
    ) affected
    join triages later on later.org_id = ${orgId} and later.id = affected.triage_id
    where later.source = 'shiplock'
      and later.ended_at is null
    order by later.id
    limit ${LATER_LISTED_MAX}`
  return rows.map((later) => later.id)
}

/** Dismissals that are over. */
export async function listExpired(db: Db, now: Date, limit: number): Promise<{ org_id: string; id: string }[]> {
  return db<{ org_id: string; id: string }[]>`
    select org_id, id
    from triages
    where expires_at <= ${now}
      and ended_at is null
    order by expires_at
    limit ${limit}`
}
