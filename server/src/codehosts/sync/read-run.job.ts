import type { Tx } from '../../platform/db/sql.ts'
import { defineJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, integer, Optional, text } from '../../platform/queue/payload.ts'
import { openRepository } from '../connections/open-client.ts'
import { applyEvents } from '../deliveries/apply-events.ts'
import type { HostServices, NamedRun } from '../deliveries/host-event-handler.ts'

/** Reads a run that something else names, and applies it, unless its own event has arrived. */
export const readRunJob = defineJob('codehosts.read-run', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: definePayload({
    org_id: text,
    provider: text,
    repository_id: text,
    run_id: text,
    attempt: Optional(integer),
  }),
  attemptsMax: 10,
  once: ({ org_id, provider, run_id }) => `${org_id} ${provider} ${run_id}`,
  run: readRun,
})

async function readRun(services: HostServices, named: NamedRun): Promise<void> {
  const { sql, handlers } = services
  if (await services.isRunKnown(sql, named)) return
  const learned = { by: 'read', at: services.clock.now() } as const
  const opened = await openRepository(services, named)
  const run = opened && (await opened.client.readRun(opened.repository, named.run_id))
  if (!run) return
  const { org_id, id: connection_id, provider, host } = opened.connection
  const source = { org_id, connection_id, provider, host, learned }
  await sql.begin((tx) => applyEvents({ services, handlers }, tx, source, [{ kind: 'run', data: run }]))
}

/** Events of a run usually arrive together. The event of the run itself may only be late. */
const DELAY_MS = 10_000

/** Reads a run that another event names, unless its own event arrives in the meantime. */
export async function enqueueRunRead(tx: Tx, run: NamedRun): Promise<void> {
  await enqueue(tx, readRunJob, run, DELAY_MS)
}

/** Reads a run at once that a CI job names, which its host has not reported yet. */
export async function enqueueRunReadNow(tx: Tx, run: NamedRun): Promise<void> {
  await enqueue(tx, readRunJob, run)
}
