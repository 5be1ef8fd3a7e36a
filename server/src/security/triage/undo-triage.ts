import type { Principal } from '../../audit/audit.store.ts'
import { statedByDocument, triagedAgain, triageEnded } from '../../errors/security.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { findEdit, listLaterEdits } from '../issues/edits/undo-edit.store.ts'
import { undoEdit } from '../issues/edits/undo-edit.ts'
import { closeTriage } from './end-triage.ts'
import { listLaterTriages, lockTriage } from './ending.store.ts'
import { waitForRepositories } from './wait-for-repositories.ts'
import { refreshTriaged } from './writing/refresh-triaged.ts'
import { listTriagedRepositories } from './writing/triage.store.ts'

/**
 * Undoes a triage. Throws 404 `not_found`, 409 `stated_by_document` for a triage of a VEX document,
 * 409 `triage_ended` if it was undone or has expired, 409 `triaged_again` if a finding or alert of
 * it was triaged later, and 503 `unavailable`.
 */
export async function undoTriage(
  { sql, clock, ruleMap }: Pick<Services, 'sql' | 'clock' | 'ruleMap'>,
  orgId: string,
  principal: Principal,
  id: string,
): Promise<void> {
  await sql.begin(async (tx) => {
    const edit = await findEdit(tx, orgId, id)
    const repositoryNos = edit === null ? await listTriagedRepositories(tx, orgId, id) : [edit.repository_no]
    await waitForRepositories(tx, orgId, repositoryNos)
    const triage = await lockTriage(tx, orgId, id)
    if (triage === null) throw createNotFoundError('triage')
    if (triage.source !== 'shiplock') throw statedByDocument()
    if (triage.ended_as !== null) throw triageEnded(triage.ended_as)
    const later = await (edit === null ? listLaterTriages : listLaterEdits)(tx, orgId, id)
    if (later.length > 0) throw triagedAgain(later)
    const at = clock.now()
    const { action } = triage
    if (action === 'split' || action === 'merge') {
      const undone = { org_id: orgId, triage_id: id, action, by: principal.name, at }
      await refreshTriaged(tx, orgId, await undoEdit(tx, ruleMap, undone), at)
    }
    await closeTriage(tx, orgId, { id, as: 'undone', principal, at })
  })
}
