import type { Db } from '../../platform/db/sql.ts'

/** Returns false if the user has no such session, or it has ended. */
export async function updateSessionEnd(db: Db, userId: string, id: string, at: Date): Promise<boolean> {
  const { count } = await db`
    update user_sessions
    set ended_at = ${at}
    where id = ${id}
      and user_id = ${userId}
      and ended_at is null`
  return count === 1
}

/** Ends the session with this token, whoever it belongs to. */
export async function updateSessionEndByToken(db: Db, tokenSha256: Buffer, at: Date): Promise<void> {
  await db`
    update user_sessions
    set ended_at = ${at}
    where token_sha256 = ${tokenSha256}
      and ended_at is null`
}

/** Ends all sessions of a user except `keptId`. Returns their number. */
export async function updateSessionEnds(db: Db, userId: string, keptId: string | null, at: Date): Promise<number> {
  const { count } = await db`
    update user_sessions
    set ended_at = ${at}
    where user_id = ${userId}
      and ended_at is null
      and id is distinct from ${keptId}`
  return count
}

/** Ends the sessions that the single sign-on of an organization has started. */
export async function updateSessionEndsOfProvider(db: Db, orgId: string, at: Date): Promise<void> {
  await db`
    update user_sessions
    set ended_at = ${at}
    where org_id = ${orgId}
      and ended_at is null`
}

/** Ends the least recently used sessions of a user, so that `kept` are left besides `newestId`. */
export async function updateExcessSessionEnds(
  db: Db,
  userId: string,
  { newestId, kept }: { newestId: string; kept: number },
  at: Date,
): Promise<void> {
  await db`
    update user_sessions
    set ended_at = ${at}
    where id in (
      select id
      from user_sessions
      where user_id = ${userId}
        and ended_at is null
        and id <> ${newestId}
      order by last_used_at desc, id desc
      offset ${kept}
    )`
}

/** Removes sessions that nobody could use after `before`. */
export async function deleteOldSessions(db: Db, before: Date): Promise<void> {
  await db`
    delete from user_sessions
    where ended_at < ${before}
      or last_used_at < ${before}`
}
