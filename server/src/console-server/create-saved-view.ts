import type { Static } from 'typebox'
import { nameTaken, tooManySavedViews } from '../errors/organizations.ts'
import { lockName } from '../platform/db/advisory-lock.ts'
import type { Tx } from '../platform/db/sql.ts'
import { createUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { type NewSavedView, SAVED_VIEWS_MAX } from './saved-view.schema.ts'
import { countSavedViews, insertSavedView, type Owner } from './saved-view.store.ts'

/** Keeps a view of a list for a person. */
export async function createSavedView({ sql, clock }: Services, owner: Owner, view: Static<typeof NewSavedView>) {
  const now = clock.now()
  const stored = { id: createUuid(now), ...view, created_at: now }
  await sql.begin(async (tx) => {
    await refuseTooMany(tx, owner)
    if (!(await insertSavedView(tx, owner, stored))) throw nameTaken('You have a saved view with this name.')
  })
  return stored
}

/** The lock makes simultaneous requests count each other's view. */
async function refuseTooMany(tx: Tx, owner: Owner): Promise<void> {
  await lockName(tx, `saved views of ${owner.userId} in ${owner.orgId}`)
  if ((await countSavedViews(tx, owner)) < SAVED_VIEWS_MAX) return
  throw tooManySavedViews(SAVED_VIEWS_MAX)
}
