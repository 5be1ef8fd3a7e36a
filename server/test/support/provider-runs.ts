import { applyHostJob, applyHostRun } from '../../src/ci/provider-runs/apply-host-run.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import type { HostJob, HostRun } from '../../src/codehosts/host-run.ts'
import type { Services } from '../../src/services.ts'
import { hostRepository, hostRun } from './host-objects.ts'

/** Minutes after the time of `hostRun`. */
export function minutes(count: number): Date {
  return new Date(hostRun().created_at.getTime() + count * 60_000)
}

/** A version of `hostRun` that completed after some minutes. */
export function completedRun(fields: Partial<HostRun> = {}, after = 5): HostRun {
  return hostRun({ status: 'success', completed_at: minutes(after), updated_at: minutes(after), ...fields })
}

export function hostJob(fields: Partial<HostJob> = {}): HostJob {
  return {
    repository: hostRepository(),
    run_id: hostRun().id,
    attempt: 1,
    id: '501',
    name: 'test',
    status: 'in_progress',
    started_at: minutes(1),
    completed_at: null,
    html_url: null,
    runner: null,
    failed_steps: [],
    ...fields,
  }
}

/** Applies each event in a transaction of its own, as deliveries are applied. */
export async function applyRunEvents(services: Services, source: HostSource, events: readonly HostEvent[]) {
  for (const event of events) {
    await services.sql.begin(async (tx) => {
      if (event.kind === 'run') await applyHostRun(services, tx, source, event.data)
      if (event.kind === 'job') await applyHostJob(services, tx, source, event.data)
    })
  }
}

export function applyRuns(services: Services, source: HostSource, ...runs: HostRun[]): Promise<void> {
  return applyRunEvents(
    services,
    source,
    runs.map((data) => ({ kind: 'run', data })),
  )
}
