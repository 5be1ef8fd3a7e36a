import type { Db } from '../platform/db/sql.ts'

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
