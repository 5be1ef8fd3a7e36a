import type { Db } from '../../platform/db/sql.ts'

export type Passkey = {
  id: string
  name: string
  /** Whether the provider of the passkey keeps copies of it on other devices. */
  is_synced: boolean
  created_at: Date
  last_used_at: Date | null
}

export type NewPasskey = Omit<Passkey, 'last_used_at'> & {
  credential_id: string
  public_key: Buffer
  sign_count: number
  transports: string[]
}

/** Returns false if an account has this passkey. */
export async function insertPasskey(db: Db, userId: string, passkey: NewPasskey): Promise<boolean> {
  const { count } = await db`
    insert into passkeys (
      id, user_id, credential_id, public_key, sign_count, transports, name, is_synced, created_at
    )
    values (
      ${passkey.id}, ${userId}, ${passkey.credential_id}, ${passkey.public_key}, ${passkey.sign_count},
      ${passkey.transports}, ${passkey.name}, ${passkey.is_synced}, ${passkey.created_at}
    )
    on conflict (credential_id) do nothing`
  return count === 1
}

export type KnownPasskey = {
  id: string
  user_id: string
  credential_id: string
  public_key: Buffer
  sign_count: number
  transports: string[]
}

/** Finds a passkey by what the browser calls it. Those of disabled users are not found. */
export async function findPasskey(db: Db, credentialId: string): Promise<KnownPasskey | null> {
  const [row] = await db<[KnownPasskey?]>`
    select passkey.id, passkey.user_id, passkey.credential_id, passkey.public_key, passkey.sign_count,
      passkey.transports
    from passkeys passkey
    join users person on person.id = passkey.user_id and person.disabled_at is null
    where passkey.credential_id = ${credentialId}`
  return row ?? null
}

/** Passkeys of one user. */
export const PASSKEYS_PER_USER_MAX = 25

/** The passkeys of a user, oldest first. */
export async function listPasskeys(
  db: Db,
  userId: string,
): Promise<(Passkey & { credential_id: string; transports: string[] })[]> {
  return db`
    select id, name, is_synced, created_at, last_used_at, credential_id, transports
    from passkeys
    where user_id = ${userId}
    order by created_at, id
    limit ${PASSKEYS_PER_USER_MAX}`
}

/**
 * Stores a use of a passkey. Returns false if the passkey was removed, or if its counter has not
 * grown, because it may then be a copy (WebAuthn §6.1.1). Authenticators without a counter send 0.
 */
export async function updatePasskeyUse(db: Db, id: string, signCount: number, at: Date): Promise<boolean> {
  const { count } = await db`
    update passkeys
    set sign_count = ${signCount}, last_used_at = ${at}
    where id = ${id}
      and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0))`
  return count === 1
}

export async function updatePasskeyName(db: Db, userId: string, id: string, name: string): Promise<Passkey | null> {
  const [row] = await db<[Passkey?]>`
    update passkeys
    set name = ${name}
    where id = ${id}
      and user_id = ${userId}
    returning id, name, is_synced, created_at, last_used_at`
  return row ?? null
}

export async function deletePasskey(db: Db, userId: string, id: string): Promise<boolean> {
  const { count } = await db`
    delete from passkeys
    where id = ${id}
      and user_id = ${userId}`
  return count === 1
}

type ChallengePurpose = 'sign_in' | 'confirm' | 'register'

/** What a challenge is for. A sign-in has no user: the passkey tells who it is. */
export type ChallengeUse = { purpose: ChallengePurpose; user_id: string | null }

export type UsedChallenge = ChallengeUse & { challenge_sha256: Buffer; expires_at: Date }

/** Uses a challenge up. Returns false if it was used: of parallel answers, one succeeds. */
export async function insertUsedChallenge(db: Db, used: UsedChallenge): Promise<boolean> {
  const { count } = await db`
    insert into passkey_challenges (challenge_sha256, purpose, user_id, expires_at)
    values (${used.challenge_sha256}, ${used.purpose}, ${used.user_id}, ${used.expires_at})
    on conflict (challenge_sha256) do nothing`
  return count === 1
}

export async function deleteExpiredChallenges(db: Db, now: Date): Promise<void> {
  await db`
    delete from passkey_challenges
    where expires_at < ${now}`
}
