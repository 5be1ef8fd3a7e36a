import type { Services } from '../../../services.ts'
import { listNamedIds, type NamedId } from '../named-id.ts'
import type { TokenJob } from '../token-job.ts'
import { TokenRejection } from './token-verifier.ts'
import type { LiveTrust } from './trust.store.ts'
import { insertPins, listPins, PINS_OF_TRUST_MAX, updatePinRefused } from './trust-pin.store.ts'

/**
 * Throws `TokenRejection` if a name that lets the job in was pinned to another id: the name belongs
 * to somebody else now. Pins names that are new. Two first tokens at once are compared with what
 * was stored, so that one id wins.
 */
export async function requirePinned(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  trust: LiveTrust,
  job: TokenJob | null,
): Promise<void> {
  const wanted = job === null ? [] : listNamedIds(trust, job.repository)
  if (wanted.length === 0) return
  const [key, now] = [{ org_id: trust.organization.id, trust_id: trust.id }, clock.now()]
  const names = wanted.map(({ name }) => name)
  const refuseOther = async (pins: readonly NamedId[]) => {
    const other = findOther(wanted, pins)
    if (other === null) return
    await updatePinRefused(sql, key, other.seen, now)
    throw new TokenRejection('unmatched', formatOther(other, trust.id))
  }
  const pins = await listPins(sql, key, names)
  await refuseOther(pins)
  if (pins.length === wanted.length) return
  await insertPins(sql, key, wanted, now)
  const stored = await listPins(sql, key, names)
  await refuseOther(stored)
  if (stored.length === wanted.length) return
  const details = `The trust has pinned ${PINS_OF_TRUST_MAX} names. Release them with "trust unpin ${trust.id}".`
  throw new TokenRejection('unmatched', details)
}

/** Says whether `requirePinned` would refuse the job, and changes nothing. */
export async function checkPinned(
  { sql }: Pick<Services, 'sql'>,
  trust: LiveTrust,
  job: TokenJob | null,
): Promise<void> {
  const wanted = job === null ? [] : listNamedIds(trust, job.repository)
  const key = { org_id: trust.organization.id, trust_id: trust.id }
  const names = wanted.map(({ name }) => name)
  const other = names.length === 0 ? null : findOther(wanted, await listPins(sql, key, names))
  if (other !== null) throw new TokenRejection('unmatched', formatOther(other, trust.id))
}

type Other = { seen: NamedId; pinned: NamedId }

function findOther(wanted: readonly NamedId[], pins: readonly NamedId[]): Other | null {
  for (const seen of wanted) {
    const pinned = pins.find(({ name }) => name === seen.name)
    if (pinned !== undefined && pinned.id !== seen.id) return { seen, pinned }
  }
  return null
}

function formatOther({ seen, pinned }: Other, trustId: string): string {
  const what = `${seen.name} had the id ${pinned.id} when the trust first let it in, and has ${seen.id} now`
  return `${what}. If this is right, release the name with "trust unpin ${trustId}".`
}
