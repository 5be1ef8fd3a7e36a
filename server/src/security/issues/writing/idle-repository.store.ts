import type { ExpiredBatch, ExpiringWithId } from '../../../platform/db/expiring-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'

/**
 * Locks the repositories of a batch of findings or issues, as everything that writes them does, so
 * that no report pairs what is being removed. Those that a report is writing to are left out.
 * Returns the numbers of the others.
 */
export async function lockIdleRepositories(
  tx: Tx,
  { table, order, isExpired }: ExpiringWithId,
  batch: ExpiredBatch,
): Promise<number[]> {
  const locked = await tx<{ id: number }[]>`
    select id
    from reported_repositories
    where org_id = ${batch.org_id}
      and id in (
        select repository_no
        from (
          select item.repository_no
          from ${tx(table)} item
          where item.org_id = ${batch.org_id}
            and ${isExpired(tx, batch)}
            ${batch.from === null ? tx`` : tx`and item.${tx(order)} >= ${batch.from}`}
          order by item.${tx(order)}
          limit ${batch.limit}
        ) candidate
      )
    order by id
    for no key update skip locked`
  return locked.map(({ id }) => id)
}

/** SQL: whether a row `item` is of one of these repositories. */
export function isOfRepositories(tx: Tx, repositoryNos: readonly number[]): ReturnType<Tx> {
  return tx`item.repository_no = any(${[...repositoryNos]}::bigint[])`
}
