import type { Db, Tx } from '../../platform/db/sql.ts'

/** How a user can sign in. */
type OwnMethods = { password: boolean; totp: boolean; recovery_codes_left: number; passkeys: number }

export async function findMethods(db: Db, userId: string): Promise<OwnMethods> {
  const [row] = await db<[OwnMethods]>`
    select exists (select from user_passwords where user_id = ${userId}) as password,
      exists (select from user_totp where user_id = ${userId} and confirmed_at is not null) as totp,
      (select count(*)::int from recovery_codes where user_id = ${userId}) as recovery_codes_left,
      (select count(*)::int from passkeys where user_id = ${userId}) as passkeys`
  return row
}

/** Changes of the methods of one user follow each other. */
export async function lockUser(tx: Tx, userId: string): Promise<void> {
  await tx`
    select from users
    where id = ${userId}
    for no key update`
}

export async function updateUserName(db: Db, userId: string, name: string): Promise<void> {
  await db`
    update users
    set name = ${name}
    where id = ${userId}`
}

/** Removes the password, TOTP and the passkeys of a user. Accounts at identity providers stay. */
export async function deleteCredentials(tx: Tx, userId: string): Promise<void> {
  await tx`delete from user_passwords where user_id = ${userId}`
  await tx`delete from user_totp where user_id = ${userId}`
  await tx`delete from recovery_codes where user_id = ${userId}`
  await tx`delete from passkeys where user_id = ${userId}`
}
