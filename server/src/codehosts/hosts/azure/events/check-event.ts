import { Type } from 'typebox'
import { Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'
import type { ObjectChange } from '../../../object-change.ts'
import { checkAddress } from '../actions/check-address.ts'
import { deploymentIdOf } from '../objects/deployment-id.ts'
import { Guid, Time } from '../objects/fields.ts'
import { runIdOf } from '../objects/run-id.ts'
import { repositoryOfRun } from './repository-alias.ts'

const Digits = Type.String({ pattern: '^[1-9]\\d{0,9}$' })

const Check = Type.Object({
  ProjectId: Guid,
  HubName: Type.String({ pattern: '^[A-Za-z]{1,30}$' }),
  PlanId: Guid,
  JobId: Guid,
  TimelineId: Guid,
  TaskInstanceId: Guid,
  BuildId: Digits,
  Environment: Type.String({ minLength: 1, maxLength: 128 }),
  RepositoryId: Maybe(Guid),
  SourceBranch: Maybe(Text),
  SourceVersion: Maybe(Type.String({ pattern: '^[0-9a-f]{40}$' })),
  StageAttempt: Maybe(Digits),
  Token: Text,
  RequestedAt: Time,
})

/** The check of an environment asks whether a stage may go on. The deployment is read too. */
export function translateCheck(payload: unknown): ObjectChange[] {
  const check = readAs(Check, payload)
  const build = { project: check.ProjectId.toLowerCase(), build: Number(check.BuildId) }
  const attempt = Number(check.StageAttempt ?? 1)
  const repository_id = check.RepositoryId?.toLowerCase() ?? repositoryOfRun(build)
  const environment = { name: check.Environment }
  const task = {
    project: build.project,
    hub: check.HubName.toLowerCase(),
    plan: check.PlanId.toLowerCase(),
    job: check.JobId.toLowerCase(),
    timeline: check.TimelineId.toLowerCase(),
    task: check.TaskInstanceId.toLowerCase(),
  }
  return [
    {
      repository_id,
      type: 'gate_request',
      request: {
        environment: check.Environment,
        run: { id: runIdOf(build), attempt },
        ref: textOrNull(check.SourceBranch),
        commit_sha: check.SourceVersion ?? null,
        callback_url: checkAddress(task),
        callback_secret: check.Token,
        is_rule: true,
        requested_at: new Date(check.RequestedAt),
      },
    },
    { repository_id, type: 'deployment', id: deploymentIdOf({ ...build, environment, attempt }) },
  ]
}
