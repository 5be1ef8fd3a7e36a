import { CheckRun, checkOf } from '../objects/check.parser.ts'
import { Maybe } from '../objects/payload.ts'
import { jobOf, runOf, Workflow, WorkflowJob, WorkflowRun } from '../objects/run.parser.ts'
import { repositoryEvent } from './event-translator.ts'

export const workflowRun = repositoryEvent(
  { workflow_run: WorkflowRun, workflow: Maybe(Workflow) },
  ({ workflow_run: run, workflow }, repository) => ({ kind: 'run', data: runOf(run, repository, workflow) }),
)

export const workflowJob = repositoryEvent({ workflow_job: WorkflowJob }, ({ workflow_job: job }, repository) => ({
  kind: 'job',
  data: jobOf(job, repository),
}))

export const checkRun = repositoryEvent({ check_run: CheckRun }, ({ check_run: check }, repository) => ({
  kind: 'check',
  data: checkOf(check, repository),
}))
