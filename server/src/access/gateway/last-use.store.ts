import type { Sql } from '../../platform/db/sql.ts'
import type { MachineCredential } from '../actor.ts'

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
