import type { StateSource } from '../platform/telemetry/state-metrics.ts'
import type { Services } from '../services.ts'
import { findState, listRemoved } from './retention.store.ts'

/** What `/metrics` states about retention. The figures are those of the whole installation. */
export const retention: StateSource<Services> = {
  gauges: {
    shiplock_retention_removed_rows: 'Rows that retention has removed since the installation began, by kind.',
    shiplock_retention_last_success_timestamp_seconds: 'When retention last finished. Missing before that.',
    shiplock_retention_duration_seconds: 'How long the last finished run of retention took, with its pauses.',
  },
  async read({ sql }) {
    const [state, kinds] = await Promise.all([findState(sql), listRemoved(sql)])
    const finishedAt = state?.finished_at
    return {
      shiplock_retention_removed_rows: kinds.map(({ kind, removed: value }) => ({ labels: { kind }, value })),
      shiplock_retention_last_success_timestamp_seconds: finishedAt ? [{ value: finishedAt.getTime() / 1000 }] : [],
      shiplock_retention_duration_seconds: typeof state?.seconds === 'number' ? [{ value: state.seconds }] : [],
    }
  },
}
