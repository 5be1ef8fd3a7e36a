import { type Static, Type } from 'typebox'
import type { HostDeployment, HostDeploymentState, HostDeploymentStatus } from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostRunStatus } from '../../host-run.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { type Build, refOf, webUrlOf } from './runs.ts'
import { deploymentIdOf } from './objects/deployment-id.ts'
import type { Environment } from './environments.ts'
import { latest, Time, timeOrNull } from './objects/fields.ts'
import { accountOf } from './objects/identity.parser.ts'
import { runIdOf } from './objects/run-id.ts'
import { statusOf } from './objects/run-words.ts'

/** A job that deploys to an environment. */
const DeploymentRecord = Type.Object({
  id: Id,
  stageName: Maybe(Text),
  stageAttempt: Maybe(Id),
  jobName: Maybe(Text),
  owner: Maybe(Type.Object({ id: Id })),
  result: Maybe(Text),
  queueTime: Maybe(Time),
  startTime: Maybe(Time),
  finishTime: Maybe(Time),
})
export type DeploymentRecord = Static<typeof DeploymentRecord>

export function parseDeploymentRecord(value: unknown): DeploymentRecord {
  return readAs(DeploymentRecord, value)
}

export function attemptOfRecord({ stageAttempt }: DeploymentRecord): number {
  return stageAttempt || 1
}

/** What is known of a deployment. There are no records before the checks are passed. */
export type DeploymentFacts = {
  repository: HostRepository
  build: Build
  environment: Environment
  attempt: number
  records: DeploymentRecord[]
  /** The stage that deploys, as far as it can be told. */
  stage: { waits_since: Date | null; status: HostRunStatus; ended_at: Date | null } | null
}

export function deploymentOf({ repository, build, environment, attempt, ...facts }: DeploymentFacts): HostDeployment {
  const { records, stage } = facts
  const project = build.project.id.toLowerCase()
  const created = earliest(records.map(({ queueTime, startTime }) => timeOrNull(queueTime) ?? timeOrNull(startTime)))
  const createdAt = created ?? stage?.waits_since ?? timeOrNull(build.queueTime) ?? new Date(0)
  const times = records.flatMap(({ startTime, finishTime }) => [timeOrNull(startTime), timeOrNull(finishTime)])
  return {
    repository,
    id: deploymentIdOf({ project, build: build.id, environment: environment.id, attempt }),
    environment: environment.name,
    ref: refOf(build) ?? build.sourceBranch ?? null,
    commit_sha: build.sourceVersion ?? '',
    run: { id: runIdOf({ project, build: build.id }), attempt },
    creator: accountOf(build.requestedFor),
    description: null,
    created_at: createdAt,
    updated_at: latest([...times, stage?.ended_at ?? null], createdAt),
  }
}

/** The states of a deployment so far, oldest first. */
export function statusesOf(facts: DeploymentFacts, jobId: string | null): HostDeploymentStatus[] {
  const deployment = deploymentOf(facts)
  const states: [HostDeploymentState, Date | null][] = [
    ['waiting', deployment.created_at],
    ['in_progress', earliest(facts.records.map(({ startTime }) => timeOrNull(startTime)))],
    endOf(facts),
  ]
  return states.flatMap(([state, at]) =>
    at === null
      ? []
      : {
          deployment,
          id: null,
          state,
          environment_url: null,
          log_url: webUrlOf(facts.build),
          job_id: jobId,
          creator: deployment.creator,
          created_at: at,
        },
  )
}

/**
 * How a deployment ended, and when; no time if it has not. One that has no records ended with its
 * stage, or with its run: a check or a person refused it, or the run was cancelled.
 */
function endOf({ records, stage, build }: DeploymentFacts): [HostDeploymentState, Date | null] {
  if (records.length > 0) {
    const isOpen = records.some(({ finishTime }) => timeOrNull(finishTime) === null)
    const at = isOpen
      ? null
      : latest(
          records.map(({ finishTime }) => timeOrNull(finishTime)),
          new Date(0),
        )
    return [worst(records.map(({ result }) => statusOf('completed', result))), at]
  }
  if (stage?.ended_at) return [worst([stage.status]), stage.ended_at]
  const isOver = build.status === 'completed'
  return [worst([statusOf(build.status, build.result)]), isOver ? timeOrNull(build.finishTime) : null]
}

/** A stage that ended without a deployment did not deploy, whatever its result. */
function worst(statuses: HostRunStatus[]): HostDeploymentState {
  if (statuses.some((status) => status === 'failure' || status === 'timed_out')) return 'failure'
  return statuses.every((status) => status === 'success') ? 'success' : 'cancelled'
}

function earliest(times: (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : new Date(Math.min(...known.map(Number)))
}
