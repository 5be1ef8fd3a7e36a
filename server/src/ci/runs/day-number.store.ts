import type { Db } from '../../platform/db/sql.ts'

const DAY_NUMBERS_AT_ONCE = 500

/** Numbers that a credential's new runs of a day may still take, in random order so that processes seldom collide. */
export async function findFreeDayNumbers(db: Db, orgId: string, credentialId: string, day: Date, max: number) {
  const rows = await db<{ number: number }[]>`
    select number
    from generate_series(1, ${max}::int) number
    where not exists (
      select from ci_runs
      where org_id = ${orgId}
        and credential_id = ${credentialId}
        and day = ${day}
        and day_number = number
    )
    order by random()
    limit ${DAY_NUMBERS_AT_ONCE}`
  return rows.map((row) => row.number)
}
