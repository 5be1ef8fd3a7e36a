import type { Db, Tx } from '../../platform/db/sql.ts'

/** The sealed secrets of a connection; null if it has none. */
export async function findSealedSecrets(db: Db, connectionId: string): Promise<string | null> {
  const [row] = await db<{ credentials: string | null }[]>`
    select credentials
    from codehost_connections
    where id = ${connectionId}`
  return row?.credentials ?? null
}

export async function updateSealedSecrets(tx: Tx, connectionId: string, sealed: string | null): Promise<void> {
  await tx`
    update codehost_connections
    set credentials = ${sealed}
    where id = ${connectionId}`
}
