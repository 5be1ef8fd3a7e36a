import type { Db, Tx } from '../../platform/db/sql.ts'

/** An account that can sign in. The hash is null if it has no password. */
export type Account = { id: string; email: string; name: string; password_hash: string | null }

/** Finds the account with this email address. A disabled user has none. */
export async function findAccount(db: Db, email: string): Promise<Account | null> {
  const [row] = await db<[Account?]>`
    select person.id, person.email, person.name, password.password_hash
    from users person
    left join user_passwords password on password.user_id = person.id
    where person.email = ${email}
      and person.disabled_at is null`
  return row ?? null
}

export async function upsertPassword(db: Db, userId: string, passwordHash: string, at: Date): Promise<void> {
  await db`
    insert into user_passwords (user_id, password_hash, changed_at)
    values (${userId}, ${passwordHash}, ${at})
    on conflict (user_id) do update
    set password_hash = excluded.password_hash, changed_at = excluded.changed_at`
}

/** Replaces the hash of the same password, unless the password was changed. */
export async function updatePasswordHash(db: Db, userId: string, from: string, to: string): Promise<void> {
  await db`
    update user_passwords
    set password_hash = ${to}
    where user_id = ${userId}
      and password_hash = ${from}`
}

/**
 * Whether the password still has the hash. Keeps it until the end of the transaction, so that a
 * change of the password waits, and then ends the session that the transaction starts.
 */
export async function lockPassword(tx: Tx, userId: string, passwordHash: string): Promise<boolean> {
  const rows = await tx`
    select from user_passwords
    where user_id = ${userId}
      and password_hash = ${passwordHash}
    for share`
  return rows.length === 1
}
