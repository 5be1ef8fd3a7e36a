import type { Db } from '../platform/db/sql.ts'
import type { PolicyBundle } from './policy-bundle.ts'

/** Keeps a bundle. It may be there already. */
export async function insertBundle(db: Db, orgId: string, sha256: string, bundle: PolicyBundle, at: Date) {
  await db`
    insert into policy_bundles (org_id, sha256, wasm, data, created_at)
    values (${orgId}, ${sha256}, ${bundle.wasm}, ${db.json(bundle.data as never)}, ${at})
    on conflict do nothing`
}

export async function findBundle(db: Db, orgId: string, sha256: string): Promise<PolicyBundle | null> {
  const [row] = await db<PolicyBundle[]>`
    select wasm, data
    from policy_bundles
    where org_id = ${orgId}
      and sha256 = ${sha256}`
  return row ?? null
}
