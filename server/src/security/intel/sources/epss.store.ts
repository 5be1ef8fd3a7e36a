import { type Copy, openCopy } from '../../../platform/db/copy-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { awaitHolders } from '../intel-hold.store.ts'
import type { Changes } from './intel-source.ts'

/** Opens the temporary table that a day's scores are copied into. It ends with the transaction. */
export async function copyEpss(tx: Tx): Promise<Copy> {
  await tx`
    create temporary table incoming_epss (cve_id text collate "C", score real, percentile real) on commit drop`
  return openCopy(tx, 'incoming_epss', ['cve_id', 'score', 'percentile'])
}

/** Makes the stored scores the copied ones. Equal ones are not written. */
export async function mergeEpss(tx: Tx): Promise<Changes> {
  await tx`analyze incoming_epss`
  await awaitHolders(tx, 'intel_epss')
  const [changes] = await tx<[Changes]>`
    with removed as (
      delete from intel_epss epss
      where not exists (select from incoming_epss incoming where incoming.cve_id = epss.cve_id)
      returning 1
    ), changed as (
      update intel_epss epss
      set score = incoming.score, percentile = incoming.percentile
      from incoming_epss incoming
      where incoming.cve_id = epss.cve_id
        and (incoming.score, incoming.percentile) is distinct from (epss.score, epss.percentile)
      returning 1
    ), added as (
      insert into intel_epss (cve_id, score, percentile)
      select cve_id, score, percentile
      from incoming_epss
      on conflict (cve_id) do nothing
      returning 1
    )
    select (select count(*) from added) as added, (select count(*) from changed) as changed,
      (select count(*) from removed) as removed`
  return changes
}
