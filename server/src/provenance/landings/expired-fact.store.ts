import { EXPIRED_CHANGES } from '../../ci/changes/expired-change.store.ts'
import { defineExpiringRows, type Expiring } from '../../platform/db/expiring-rows.ts'

/**
 * What code hosts have said about changes. It stays while the record of a landing from before the
 * same time is still to be written, which needs it.
 */
export const expiringFacts: readonly Expiring[] = EXPIRED_CHANGES.map((table) =>
  defineExpiringRows({
    ...table,
    isExpired: (db, expiry) => db`
      ${table.isExpired(db, expiry)}
      and not exists (
        select from landings landing
        where landing.org_id = item.org_id
          and landing.provider = item.provider
          and landing.repository_id = item.repository_id
          and landing.state = 'waiting'
          and landing.landed_at < ${expiry.before}
      )`,
  }),
)
