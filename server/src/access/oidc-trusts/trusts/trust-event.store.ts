import type { Db, Sql } from '../../../platform/db/sql.ts'
import type { UnusualJob } from '../trusted-events.ts'

/** Rows of one trust. GitHub has about 40 events. */
const EVENTS_OF_TRUST_MAX = 50
/** Trusts with events that `doctor` lists. */
const LISTED_MAX = 50

/**
 * Notes that a trust let in an untrusted job of an event. It may be lost in a crash, so the write
 * does not wait for the disk.
 */
export async function upsertTrustEvent(
  sql: Sql,
  { org_id, trust_id }: { org_id: string; trust_id: string },
  { event, self_hosted }: UnusualJob,
  at: Date,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`
    await tx`
      insert into trust_events (org_id, trust_id, event, self_hosted, last_seen)
      select ${org_id}, ${trust_id}, ${event}, ${self_hosted}, ${at}::timestamptz::date
      where (
        select count(*)
        from trust_events
        where org_id = ${org_id}
          and trust_id = ${trust_id}
          and (event, self_hosted) <> (${event}, ${self_hosted})
      ) < ${EVENTS_OF_TRUST_MAX}
      on conflict (org_id, trust_id, event, self_hosted) do update
      set last_seen = excluded.last_seen
      where trust_events.last_seen < excluded.last_seen`
  })
}

/**
 * Untrusted jobs that a live trust has let in, by event. `last_seen` is a day such as 2026-11-28.
 */
export type TrustEvent = UnusualJob & { slug: string; trust_id: string; name: string; last_seen: string }

/**
 * The events of live trusts since a time that the trusts do not count as verified, newest first.
 */
export async function listTrustEvents(db: Db, since: Date, now: Date): Promise<TrustEvent[]> {
  return db<TrustEvent[]>`
    select org.slug, trust.id as trust_id, trust.name, seen.event, seen.self_hosted, seen.last_seen::text as last_seen
    from trust_events seen
    join oidc_trusts trust on trust.org_id = seen.org_id and trust.id = seen.trust_id
    join organizations org on org.id = seen.org_id
    where seen.last_seen >= ${since}::timestamptz::date
      and trust.revoked_at is null
      and (trust.expires_at is null or trust.expires_at > ${now})
    order by seen.last_seen desc, org.slug, trust.created_at, trust.id, seen.event
    limit ${LISTED_MAX}`
}
