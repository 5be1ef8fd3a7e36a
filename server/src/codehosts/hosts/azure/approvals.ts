import { restPath } from '../../kit/rest-client.ts'
import type { AzureApi } from './client.ts'
import { type EnvironmentCheck, parseCheckSuite } from './objects/check-suite.parser.ts'
import { timeOrNull } from './objects/fields.ts'
import type { BuildName } from './objects/run-id.ts'
import { attemptOf, statusOfRecord, type TimelineRecord, within } from './jobs.ts'
import { readTimeline, type StageAttempt, stagesAt } from './reads/build-attempts.ts'

/** The point before a stage at which the checks of its environments hold it. */
export type Checkpoint = {
  stage: TimelineRecord
  attempt: number
  is_open: boolean
  /** Whether the stage went on: then its deployments have records. */
  has_started: boolean
  waits_since: Date | null
  checks: EnvironmentCheck[]
}

/**
 * The checkpoints of the stages of a run: those of one attempt, or the newest of each stage. The id
 * of a checkpoint's record is that of its checks.
 */
export async function readCheckpoints(api: AzureApi, build: BuildName, attempt?: number): Promise<Checkpoint[]> {
  const timeline = await readTimeline(api, build)
  if (timeline === null) return []
  const stages = await stagesAt(api, build, timeline, attempt ?? Number.MAX_SAFE_INTEGER)
  const wanted = stages.filter(({ stage }) => attempt === undefined || attemptOf(stage) === attempt)
  return (await Promise.all(wanted.map((stage) => readCheckpoint(api, build, stage)))).flat()
}

async function readCheckpoint(
  api: AzureApi,
  { project }: BuildName,
  { stage, timeline }: StageAttempt,
): Promise<Checkpoint[]> {
  const records = timeline.records.filter(({ type, parentId }) => type === 'Checkpoint' && parentId === stage.id)
  return Promise.all(
    records.map(async (record) => {
      const path = restPath`/${project}/_apis/pipelines/checks/runs/${record.id}`
      const suite = await api.read({ path, query: { $expand: 'resources' }, preview: 1 })
      return {
        stage,
        attempt: attemptOf(stage),
        is_open: record.state !== 'completed' && stage.state !== 'completed',
        has_started: within(timeline, stage).some(({ type, startTime }) => type === 'Job' && startTime),
        waits_since: timeOrNull(record.startTime) ?? timeOrNull(stage.startTime),
        checks: suite === null ? [] : parseCheckSuite(suite),
      }
    }),
  )
}

/** The stage of a deployment: whether it waits, and how it ended. */
export function stageOf({ stage, waits_since }: Checkpoint) {
  return { waits_since, status: statusOfRecord(stage), ended_at: timeOrNull(stage.finishTime) }
}
