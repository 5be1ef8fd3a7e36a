import type { HostEventHandlers } from '../../src/codehosts/deliveries/host-event-handler.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import type { Sql, Tx } from '../../src/platform/db/sql.ts'

/** The table in which handlers of tests record the runs that they were called with. */
export async function createAppliedTable(sql: Sql): Promise<void> {
  await sql`create table applied_runs (number serial, run_id text not null, message text not null)`
}

/** The recorded runs, in the order in which their transactions recorded them. */
export async function listApplied(sql: Sql): Promise<{ run_id: string; message: string }[]> {
  return sql<{ run_id: string; message: string }[]>`select run_id, message from applied_runs order by number`
}

/** Handlers that record each run, and then call `next`, which may fail. */
export function applyingHandlers(next: (tx: Tx, run: HostRun) => Promise<void> = async () => {}): HostEventHandlers {
  const none = {
    ...{ repository: [], job: [], check: [], deployment: [], deployment_status: [], gate_request: [] },
    ...{ deployment_review: [], alert: [], alert_change: [], pull_request: [], review: [], push: [] },
  }
  return {
    ...none,
    run: [
      async (_services, tx, _source, run) => {
        await tx`insert into applied_runs (run_id, message) values (${run.id}, ${run.commit.message ?? ''})`
        await next(tx, run)
      },
    ],
  }
}
