import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostDeploymentReview } from '../../host-deployment.ts'
import { Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type AzureApi, Identity, parseAccount, parseTime, Time } from './client.ts'
import {
  type DeploymentName,
  type Environment,
  fetchEnvironment,
  fetchRecords,
  getRecordAttempt,
  parseEnvironment,
  parseReviewers,
} from './environments.ts'
import {
  type BuildName,
  collectRecords,
  fetchStages,
  fetchTimeline,
  getAttempt,
  listRecords,
  parseRecordStatus,
  parseRunId,
  type StageAttempt,
  type TimelineRecord,
} from './jobs.ts'
import type { Build } from './runs.ts'

export function createApprovalReads(
  api: AzureApi,
): Pick<HostReader, 'listPendingDeployments' | 'listDeploymentReviews'> {
  return {
    async listPendingDeployments(_, runId) {
      const build = parseRunId(runId)
      const open = build ? (await fetchCheckpoints(api, build)).filter(({ is_open }) => is_open) : []
      if (build === null || open.length === 0) return []
      const approvals = await fetchApprovals(api, build.project, open)
      const named = await fetchHeldEnvironments(api, build.project, open)
      return named.map(({ id, name }) => {
        const its = approvals.filter(({ environment }) => environment === id)
        return { environment: name, ...parseReviewers(its.flatMap(({ approval }) => pendingApprovers(approval))) }
      })
    },

    async listDeploymentReviews(repository, runId) {
      const build = parseRunId(runId)
      const checkpoints = build ? await fetchCheckpoints(api, build) : []
      if (build === null || checkpoints.length === 0) return []
      const approvals = await fetchApprovals(api, build.project, checkpoints)
      const named = approvals.length === 0 ? [] : await fetchHeldEnvironments(api, build.project, checkpoints)
      return approvals.flatMap(({ approval, environment, attempt }) => {
        const environments = named.flatMap(({ id, name }) => (id === environment ? name : []))
        return parseAnswers(approval, { repository, run: { id: runId, attempt }, environments, otherwise: api.now() })
      })
    },
  }
}

/** The environments whose checks hold a run. */
export async function fetchHeldEnvironments(
  api: AzureApi,
  project: string,
  checkpoints: readonly Checkpoint[],
): Promise<Environment[]> {
  const ids = new Set(checkpoints.flatMap(({ checks }) => checks.map(({ environment }) => environment)))
  const found = await Promise.all([...ids].map((id) => fetchEnvironment(api, project, id)))
  return found.filter((environment) => environment !== null)
}

/** The point before a stage at which the checks of its environments hold it. */
type Checkpoint = {
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
export async function fetchCheckpoints(api: AzureApi, build: BuildName, attempt?: number): Promise<Checkpoint[]> {
  const timeline = await fetchTimeline(api, build)
  if (timeline === null) return []
  const stages = await fetchStages(api, build, timeline, attempt ?? Number.MAX_SAFE_INTEGER)
  const wanted = stages.filter(({ stage }) => attempt === undefined || getAttempt(stage) === attempt)
  return (await Promise.all(wanted.map((stage) => fetchCheckpoint(api, build, stage)))).flat()
}

async function fetchCheckpoint(
  api: AzureApi,
  { project }: BuildName,
  { stage, timeline }: StageAttempt,
): Promise<Checkpoint[]> {
  const records = timeline.records.filter(({ type, parentId }) => type === 'Checkpoint' && parentId === stage.id)
  return Promise.all(
    records.map(async (record) => {
      const path = encodePath`/${project}/_apis/pipelines/checks/runs/${record.id}`
      const suite = await api.fetch({ path, query: { $expand: 'resources' }, preview: 1 })
      return {
        stage,
        attempt: getAttempt(stage),
        is_open: record.state !== 'completed' && stage.state !== 'completed',
        has_started: collectRecords(timeline, stage).some(({ type, startTime }) => type === 'Job' && startTime),
        waits_since: parseTime(record.startTime) ?? parseTime(stage.startTime),
        checks: suite === null ? [] : parseCheckSuite(suite),
      }
    }),
  )
}

/** The stage of a deployment: whether it waits, and how it ended. */
export function parseStage({ stage, waits_since }: Checkpoint) {
  return { waits_since, status: parseRecordStatus(stage), ended_at: parseTime(stage.finishTime) }
}

type EnvironmentApproval = { approval: Approval; environment: number; attempt: number }

/**
 * The approvals that stages waited for. The id of a check that is an approval is that of the
 * approval.
 */
async function fetchApprovals(
  api: AzureApi,
  project: string,
  checkpoints: readonly Checkpoint[],
): Promise<EnvironmentApproval[]> {
  const asked = checkpoints.flatMap(({ checks, attempt }) =>
    checks.flatMap(({ id, environment, is_approval }) => (is_approval ? { id, environment, attempt } : [])),
  )
  if (asked.length === 0) return []
  const path = encodePath`/${project}/_apis/pipelines/approvals`
  const query = { approvalIds: asked.map(({ id }) => id).join(','), $expand: 'steps' }
  const approvals = await api.fetchAll({ path, query }, (approval) => readAs(Approval, approval))
  return asked.flatMap(({ id, environment, attempt }) => {
    const approval = approvals.find((one) => one.id.toLowerCase() === id.toLowerCase())
    return approval ? { approval, environment, attempt } : []
  })
}

const ApprovalStep = Type.Object({
  assignedApprover: Maybe(Identity),
  actualApprover: Maybe(Identity),
  status: Maybe(Text),
  comment: Maybe(Text),
  lastModifiedOn: Maybe(Time),
})

const Approval = Type.Object({
  id: Text,
  status: Maybe(Text),
  createdOn: Maybe(Time),
  lastModifiedOn: Maybe(Time),
  steps: Maybe(Type.Array(ApprovalStep)),
})
type Approval = Static<typeof Approval>

/** Who can still answer. */
function pendingApprovers({ steps }: Approval): Static<typeof Identity>[] {
  return (steps ?? []).flatMap(({ status, assignedApprover }) =>
    status === 'pending' && assignedApprover ? assignedApprover : [],
  )
}

/** The answers of an approval, one for each step that has one. */
function parseAnswers(
  { steps, lastModifiedOn }: Approval,
  of: Pick<HostDeploymentReview, 'repository' | 'run' | 'environments'> & { otherwise: Date },
): HostDeploymentReview[] {
  const { otherwise, ...place } = of
  return (steps ?? []).flatMap((step) => {
    const { status, comment } = step
    if (status !== 'approved' && status !== 'rejected') return []
    const at = parseTime(step.lastModifiedOn) ?? parseTime(lastModifiedOn) ?? otherwise
    const reviewer = parseAccount(step.actualApprover) ?? parseAccount(step.assignedApprover)
    return { ...place, state: status, reviewer, comment: parseText(comment), at }
  })
}

const CheckRun = Type.Object({
  id: Text,
  status: Maybe(Text),
  checkConfigurationRef: Maybe(
    Type.Object({
      type: Maybe(Type.Object({ name: Maybe(Text) })),
      resource: Maybe(Type.Object({ type: Maybe(Text), id: Maybe(Text) })),
    }),
  ),
})

const CheckSuite = Type.Object({ checkRuns: Maybe(Type.Array(CheckRun)) })

/** A check of an environment, for one attempt of a stage. */
type EnvironmentCheck = { id: string; environment: number; is_approval: boolean }

/** The checks of environments. A stage also waits for those of pools and service connections. */
function parseCheckSuite(value: unknown): EnvironmentCheck[] {
  return (readAs(CheckSuite, value).checkRuns ?? []).flatMap(({ id, checkConfigurationRef: configured }) => {
    const environment = Number(configured?.resource?.id)
    if (configured?.resource?.type?.toLowerCase() !== 'environment' || !Number.isSafeInteger(environment)) return []
    return { id, environment, is_approval: configured.type?.name?.toLowerCase() === 'approval' }
  })
}

/** The environments whose records are searched for those of a stage. */
const SEARCHED_MAX = 20

type Place = { environment: Environment; attempt: number }

/** Where a deployment goes to, and in which attempt. Null if there is no such environment. */
export async function fetchPlace(api: AzureApi, name: DeploymentName, build: Build): Promise<Place | null> {
  const { project, environment: named, attempt } = name
  if (typeof named === 'object' && 'stage' in named) return fetchPlaceByStage(api, name, build, named.stage)
  const environment = await fetchEnvironment(api, project, named)
  return environment && { environment, attempt: attempt ?? 1 }
}

/**
 * The environment that a stage deploys to. It is known from the checks that hold the stage, else
 * from the records of its deployments. Of several environments, the first one is meant.
 */
async function fetchPlaceByStage(
  api: AzureApi,
  { project, attempt: asked }: DeploymentName,
  build: Build,
  stage: string,
): Promise<Place | null> {
  const name = { project, build: build.id }
  const checkpoints = await fetchCheckpoints(api, name, asked ?? undefined)
  const held = checkpoints.find(({ stage: one }) => one.identifier === stage || one.name === stage)
  const [check] = held?.checks ?? []
  if (held && check) {
    const environment = await fetchEnvironment(api, project, check.environment)
    return environment && { environment, attempt: held.attempt }
  }
  // Only a run with stages can deploy.
  const timeline = await fetchTimeline(api, name)
  const hasStages = timeline !== null && listRecords(timeline, 'Stage').length > 0
  return hasStages ? fetchPlaceByRecords(api, project, build, stage) : null
}

async function fetchPlaceByRecords(api: AzureApi, project: string, build: Build, stage: string): Promise<Place | null> {
  const path = encodePath`/${project}/_apis/distributedtask/environments`
  const environments = await api.fetchAll({ path }, parseEnvironment)
  for (const environment of environments.slice(0, SEARCHED_MAX)) {
    const records = await fetchRecords(api, project, build, environment)
    const attempts = records.filter(({ stageName }) => stageName === stage).map(getRecordAttempt)
    if (attempts.length > 0) return { environment, attempt: Math.max(...attempts) }
  }
  return null
}
