import type { Lane } from '../../ci/runs/trust.ts'
import { lockNameIfFree } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { limitReached } from '../../platform/http/errors.ts'
import { countWaiting, type Waiting } from './upload.store.ts'

/** Of an organization and lane. */
const WAITING_UPLOADS_MAX = 2000
const WAITING_BYTES_MAX = 4 * 1024 ** 3
const WAITING_RETRY_SECONDS = 60
/** More than requests of all processes can add while one of them counts. */
const CLOSE_UPLOADS = 100
const CLOSE_BYTES = WAITING_BYTES_MAX / 4
const CLOSE_RETRY_SECONDS = 1

/** What is to wait in a lane. `id` is the upload that it belongs to, if there is one. */
export type NewWaiting = Waiting & { org_id: string; lane: Lane; id?: string }

/**
 * Throws 429 if too much waits because of the sender's lane. Other lanes can still send. Only close
 * to the limit requests are counted one by one: the next one is 429 then instead of waiting,
 * because it would keep a connection from others.
 */
export async function requireRoom(tx: Tx, added: NewWaiting, now: Date): Promise<void> {
  const { uploads, bytes } = await countWaiting(tx, added, now)
  if (uploads + added.uploads <= WAITING_UPLOADS_MAX - CLOSE_UPLOADS && bytes + added.bytes <= CLOSE_BYTES * 3) return
  if (!(await lockNameIfFree(tx, `waiting uploads ${added.org_id} ${added.lane}`)))
    throw refuseWaiting(`Almost ${WAITING_UPLOADS_MAX} uploads or 4 GiB`, WAITING_UPLOADS_MAX, CLOSE_RETRY_SECONDS)
  const counted = await countWaiting(tx, added, now)
  if (counted.uploads + added.uploads > WAITING_UPLOADS_MAX)
    throw refuseWaiting(`More than ${WAITING_UPLOADS_MAX} uploads`, WAITING_UPLOADS_MAX, WAITING_RETRY_SECONDS)
  // What is larger than all that may wait is refused when it is read.
  if (counted.bytes > 0 && counted.bytes + added.bytes > WAITING_BYTES_MAX)
    throw refuseWaiting('More than 4 GiB', WAITING_BYTES_MAX, WAITING_RETRY_SECONDS)
}

function refuseWaiting(what: string, limit: number, retrySeconds: number) {
  const message = `${what} of the organization would wait to be read. Send the report again later.`
  return limitReached(message, { limit, resetAt: null, reason: 'UPLOADS_WAITING' }).retryAfter(retrySeconds)
}
