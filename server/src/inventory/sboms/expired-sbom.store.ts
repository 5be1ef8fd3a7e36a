import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'

/**
 * Documents that are no longer the newest of their streams, with the commits that they are about.
 */
export const expiringSboms = defineExpiringRows({
  kind: 'sboms',
  table: 'sboms',
  key: ['no'],
  order: 'created_at',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and (
      item.is_older
      or exists (
        select from sboms newer
        where newer.org_id = item.org_id
          and newer.stream_id = item.stream_id
          and not newer.is_older
          and (newer.created_at, newer.no) > (item.created_at, item.no)
      )
    )`,
  parts: [{ table: 'sbom_commits', columns: ['sbom_no'] }],
})
