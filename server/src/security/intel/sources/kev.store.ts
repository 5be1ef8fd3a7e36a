import { type Copy, openCopy } from '../../../platform/db/copy-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { awaitHolders } from '../intel-hold.store.ts'
import type { Changes } from './intel-source.ts'

/** Opens the temporary table that the catalogue is copied into. It ends with the transaction. */
export async function copyKev(tx: Tx): Promise<Copy> {
  await tx`
    create temporary table incoming_kev (
      cve_id text collate "C", date_added date, due_date date, ransomware boolean
    ) on commit drop`
  return openCopy(tx, 'incoming_kev', ['cve_id', 'date_added', 'due_date', 'ransomware'])
}

/** Makes the stored catalogue the copied one. Equal entries are not written. */
export async function mergeKev(tx: Tx): Promise<Changes> {
  await tx`analyze incoming_kev`
  await awaitHolders(tx, 'intel_kev')
  const [changes] = await tx<[Changes]>`
    with removed as (
      delete from intel_kev kev
      where not exists (select from incoming_kev incoming where incoming.cve_id = kev.cve_id)
      returning 1
    ), changed as (
      update intel_kev kev
      set date_added = incoming.date_added, due_date = incoming.due_date, ransomware = incoming.ransomware
      from incoming_kev incoming
      where incoming.cve_id = kev.cve_id
        and (incoming.date_added, incoming.due_date, incoming.ransomware)
          is distinct from (kev.date_added, kev.due_date, kev.ransomware)
      returning 1
    ), added as (
      insert into intel_kev (cve_id, date_added, due_date, ransomware)
      select cve_id, date_added, due_date, ransomware
      from incoming_kev
      on conflict (cve_id) do nothing
      returning 1
    )
    select (select count(*) from added) as added, (select count(*) from changed) as changed,
      (select count(*) from removed) as removed`
  return changes
}
