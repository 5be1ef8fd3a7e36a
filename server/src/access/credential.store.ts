import type { Db, Sql } from '../platform/db/sql.ts'
import type { MachineCredential } from './actor.ts'

/**
 * The users who created these API keys and OIDC trusts. Credentials that were created at the
 * command line have none.
 */
export async function listCreators(db: Db, orgId: string, credentialIds: readonly string[]): Promise<string[]> {
  if (credentialIds.length === 0) return []
  const ids = [...credentialIds]
  const rows = await db<{ user_id: string }[]>`
    select created_by_user_id as user_id
    from api_keys
    where org_id = ${orgId}
      and id = any(${ids}::uuid[])
      and created_by_user_id is not null
    union
    select created_by_user_id
    from oidc_trusts
    where org_id = ${orgId}
      and id = any(${ids}::uuid[])
      and created_by_user_id is not null`
  return rows.map(({ user_id }) => user_id)
}

/** What an API key or OIDC trust is called. Null if there is no such credential. */
export async function findCredentialName(db: Db, orgId: string, id: string) {
  const [row] = await db<{ type: 'api_key' | 'oidc_trust'; name: string }[]>`
    select 'api_key' as type, name
    from api_keys
    where org_id = ${orgId}
      and id = ${id}
    union all
    select 'oidc_trust', name
    from oidc_trusts
    where org_id = ${orgId}
      and id = ${id}
    limit 1`
  return row ?? null
}

const TABLES: Record<MachineCredential['type'], string> = { api_key: 'api_keys', oidc_trust: 'oidc_trusts' }

/**
 * Stores the minute of the last use of a credential. It may be lost in a crash, so the write does
 * not wait for the disk.
 */
export async function updateLastUse(
  sql: Sql,
  orgId: string,
  { type, id }: Pick<MachineCredential, 'type' | 'id'>,
  minute: Date,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`
    await tx`
      update ${tx(TABLES[type])}
      set last_used_at = ${minute}
      where org_id = ${orgId}
        and id = ${id}
        and (last_used_at is null or last_used_at < ${minute})`
  })
}
