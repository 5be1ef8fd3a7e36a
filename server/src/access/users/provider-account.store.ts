import { type Db, getSqlState, type Tx, UNIQUE_VIOLATION } from '../../platform/db/sql.ts'

/** Who a member is at a code host. */
type ProviderAccount = { provider: string; login: string }

/** The accounts of a member at code hosts, by provider. */
export async function findProviderAccounts(db: Db, orgId: string, userId: string): Promise<ProviderAccount[]> {
  return db<ProviderAccount[]>`
    select provider, login
    from member_accounts
    where org_id = ${orgId}
      and user_id = ${userId}
    order by provider`
}

type StoredAccount = ProviderAccount & { user_id: string }

/** Sets the login of a member. Returns false if another member has it. */
export async function upsertProviderAccount(tx: Tx, orgId: string, account: StoredAccount, at: Date): Promise<boolean> {
  const { user_id, provider, login } = account
  try {
    await tx.savepoint(
      (savepoint) => savepoint`
        insert into member_accounts (org_id, user_id, provider, login, created_at)
        values (${orgId}, ${user_id}, ${provider}, ${login}, ${at})
        on conflict (org_id, user_id, provider) do update
        set login = excluded.login, created_at = excluded.created_at`,
    )
    return true
  } catch (error) {
    if (getSqlState(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

/** Returns the removed login, or null if there was none. */
export async function deleteProviderAccount(tx: Tx, orgId: string, userId: string, provider: string) {
  const [row] = await tx<{ login: string }[]>`
    delete from member_accounts
    where org_id = ${orgId}
      and user_id = ${userId}
      and provider = ${provider}
    returning login`
  return row?.login ?? null
}
