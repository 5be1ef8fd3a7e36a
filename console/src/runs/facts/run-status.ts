import type { Schema } from '../../api/client.ts'

type RunStatus = Schema<'PipelineRun'>['status']

export const RUN_STATUSES = [
  'queued',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'timed_out',
  'skipped',
] as const satisfies RunStatus[]
