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

/** Whether a person can sign in to an account, at an identity provider if not otherwise. */
export async function hasSignInMethod(db: Db, userId: string): Promise<boolean> {
  const [row] = await db<[{ can: boolean }]>`
    select private_to is not null
      or exists (select from user_passwords where user_id = ${userId})
      or exists (select from passkeys where user_id = ${userId})
      or exists (select from sso_identities where user_id = ${userId} and unlinked_at is null) as can
    from users
    where id = ${userId}`
  return row.can
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

/**
 * Removes the password, TOTP, the passkeys and the known browsers of a user. Accounts at identity
 * providers stay.
 */
export async function deleteCredentials(tx: Tx, userId: string): Promise<void> {
  await tx`delete from user_passwords where user_id = ${userId}`
  await tx`delete from user_totp where user_id = ${userId}`
  await tx`delete from recovery_codes where user_id = ${userId}`
  await tx`delete from passkeys where user_id = ${userId}`
  await tx`delete from known_browsers where user_id = ${userId}`
}

/** An account that can sign in. The hash is null if it has no password. */
export type Account = { id: string; email: string; name: string; password_hash: string | null }

/**
 * Finds the account with this email address. A disabled user has none, and an account that is
 * private to an organization is opened by its identity provider alone.
 */
export async function findAccount(db: Db, email: string): Promise<Account | null> {
  const [row] = await db<[Account?]>`
    select person.id, person.email, person.name, password.password_hash
    from users person
    left join user_passwords password on password.user_id = person.id
    where person.email = ${email}
      and person.private_to is null
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

type Totp = { sealed_secret: string; confirmed_at: Date | null }

export async function findTotp(db: Db, userId: string): Promise<Totp | null> {
  const [row] = await db<[Totp?]>`
    select sealed_secret, confirmed_at
    from user_totp
    where user_id = ${userId}`
  return row ?? null
}

/** Starts an enrolment, in place of one that was not confirmed. Returns false if TOTP is on. */
export async function insertTotp(db: Db, userId: string, sealedSecret: string, at: Date): Promise<boolean> {
  const { count } = await db`
    insert into user_totp as enrolled (user_id, sealed_secret, created_at, last_step)
    values (${userId}, ${sealedSecret}, ${at}, 0)
    on conflict (user_id) do update
    set sealed_secret = excluded.sealed_secret, created_at = excluded.created_at
    where enrolled.confirmed_at is null`
  return count === 1
}

/** Confirms an enrolment with this secret. Returns false if it is confirmed or replaced. */
export async function updateTotpConfirmed(
  db: Db,
  userId: string,
  { sealed_secret, step }: { sealed_secret: string; step: number },
  at: Date,
): Promise<boolean> {
  const { count } = await db`
    update user_totp
    set confirmed_at = ${at}, last_step = ${step}
    where user_id = ${userId}
      and sealed_secret = ${sealed_secret}
      and confirmed_at is null`
  return count === 1
}

/**
 * Uses the code of a time step up. Returns false if it or a later one was used: of parallel
 * requests with the same code, one succeeds.
 */
export async function updateTotpStep(db: Db, userId: string, step: number): Promise<boolean> {
  const { count } = await db`
    update user_totp
    set last_step = ${step}
    where user_id = ${userId}
      and confirmed_at is not null
      and last_step < ${step}`
  return count === 1
}

/** Removes TOTP and the recovery codes. Returns false if TOTP was not on. */
export async function deleteTotp(db: Db, userId: string): Promise<boolean> {
  const [row] = await db<[{ confirmed_at: Date | null }?]>`
    delete from user_totp
    where user_id = ${userId}
    returning confirmed_at`
  await db`
    delete from recovery_codes
    where user_id = ${userId}`
  return row?.confirmed_at != null
}

/** Replaces all recovery codes of a user. */
export async function updateRecoveryCodes(db: Db, userId: string, hashes: Buffer[], at: Date): Promise<void> {
  await db`
    delete from recovery_codes
    where user_id = ${userId}`
  await db`
    insert into recovery_codes (user_id, code_sha256, created_at)
    select ${userId}, decode(unnest(${hashes.map((code) => code.toString('hex'))}::text[]), 'hex'), ${at}`
}

/** Uses a recovery code up. Returns false if the user has no such code. */
export async function deleteRecoveryCode(db: Db, userId: string, codeSha256: Buffer): Promise<boolean> {
  const { count } = await db`
    delete from recovery_codes
    where user_id = ${userId}
      and code_sha256 = ${codeSha256}`
  return count === 1
}

/** Removes enrolments that were not confirmed. */
export async function deleteUnconfirmedTotp(db: Db, before: Date): Promise<void> {
  await db`
    delete from user_totp
    where confirmed_at is null
      and created_at < ${before}`
}
