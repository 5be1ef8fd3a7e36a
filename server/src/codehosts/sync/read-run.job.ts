import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { enqueue, type Job } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { openRepository } from '../connections/open-client.ts'
import { applyEvents } from '../deliveries/apply-events.ts'
import type { HostEventHandlers } from '../deliveries/host-event-handler.ts'

const Payload = Type.Object({
  org_id: Type.String(),
  provider: Type.String(),
  repository_id: Type.String(),
  /** The host's id. */
  run_id: Type.String(),
  /** The attempt that has to be known. Any if it is missing. */
  attempt: Type.Optional(Type.Integer()),
})
type Payload = Static<typeof Payload>

const QUEUED = {
  name: 'codehosts.read-run',
  payload: Payload,
  attemptsMax: 10,
  once: ({ org_id, provider, run_id }: Payload) => `${org_id} ${provider} ${run_id}`,
}

/** Events of a run usually arrive together. The event of the run itself may only be late. */
const DELAY_MS = 10_000

/** Reads a run that another event names, unless its own event arrives in the meantime. */
export async function requestRun(tx: Tx, run: Payload): Promise<void> {
  await enqueue(tx, QUEUED, run, DELAY_MS)
}

/** Reads a run at once that a CI job names, which its host has not reported yet. */
export async function requestRunNow(tx: Tx, run: Payload): Promise<void> {
  await enqueue(tx, QUEUED, run)
}

export type RunParts = {
  handlers: HostEventHandlers
  /** Whether an event of the run, or of its attempt, has arrived. */
  isKnown(db: Db, run: Payload): Promise<boolean>
}

/** The job that reads such a run from its host. jobs.ts provides what the slices above know. */
export function readRunJob({ handlers, isKnown }: RunParts): Job<Services, Payload> {
  return {
    ...QUEUED,
    async run(services, payload) {
      const { sql } = services
      if (await isKnown(sql, payload)) return
      const opened = await openRepository(services, payload)
      const run = opened && (await opened.client.readRun(opened.repository, payload.run_id))
      if (!run) return
      const { org_id, id: connection_id, provider, host } = opened.connection
      const source = { org_id, connection_id, provider, host }
      await sql.begin((tx) => applyEvents({ services, handlers }, tx, source, [{ kind: 'run', data: run }]))
    },
  }
}
