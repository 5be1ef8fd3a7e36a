import type { Db } from '../../platform/db/sql.ts'
import type { Provider } from '../../repositories/repository-identity.ts'

/** A connection, as far as requests to its host need it. */
export type ConnectionName = {
  org_id: string
  id: string
  provider: Provider
  host: string
  installation_id: string
  status: 'active' | 'suspended' | 'removed'
}

export async function findConnection(db: Db, id: string): Promise<ConnectionName | null> {
  const [row] = await db<ConnectionName[]>`
    select org_id, id, provider, host, installation_id, status
    from codehost_connections
    where id = ${id}`
  return row ?? null
}
