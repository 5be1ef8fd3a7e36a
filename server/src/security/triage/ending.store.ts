import type { Db, Tx } from '../../platform/db/sql.ts'
import type { TriageAction, TriageSource } from './writing/triage.store.ts'

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
