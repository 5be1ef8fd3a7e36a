import type { Db, Tx } from '../db/sql.ts'

/**
 * Objects that no row refers to. They are removed at `remove_after`, when their upload slots have
 * expired.
 */
export async function insertAbandonedObjects(
  tx: Tx,
  objects: { object_key: string; remove_after: Date }[],
): Promise<void> {
  await tx`
    insert into abandoned_objects (object_key, remove_after)
    select object_key, remove_after
    from jsonb_to_recordset(${tx.json(objects as never)}::jsonb) as object (object_key text, remove_after timestamptz)
    on conflict (object_key) do nothing`
}

/**
 * Returns and locks keys of objects to remove, oldest first. Skips keys that other workers locked.
 */
export async function lockAbandonedObjects(tx: Tx, removeAfterMax: Date, limit: number): Promise<string[]> {
  const rows = await tx<{ object_key: string }[]>`
    select object_key
    from abandoned_objects
    where remove_after <= ${removeAfterMax}
    order by remove_after
    limit ${limit}
    for update skip locked`
  return rows.map((row) => row.object_key)
}

/** Deletes the entries of removed objects. */
export async function deleteAbandonedObjects(db: Db, keys: string[]): Promise<void> {
  await db`
    delete from abandoned_objects
    where object_key = any(${keys})`
}

/** Moves objects that could not be removed to the end of the queue. */
export async function updateAbandonedObjects(db: Db, keys: string[], removeAfter: Date): Promise<void> {
  await db`
    update abandoned_objects
    set remove_after = ${removeAfter}
    where object_key = any(${keys})`
}
