import { CheckRun, checkOf } from '../objects/check.parser.ts'
import { Maybe } from '../objects/payload.ts'
import { Account } from '../objects/repository.parser.ts'
import { jobOf, runOf, Workflow, WorkflowJob, WorkflowRun } from '../objects/run.parser.ts'
import { repositoryEvent } from './event-translator.ts'

/** Older servers leave the actor out of the run. The sender of the event is the same account. */
export const workflowRun = repositoryEvent(
  { workflow_run: WorkflowRun, workflow: Maybe(Workflow), sender: Maybe(Account) },
  ({ workflow_run: run, workflow, sender }, repository) => ({
    kind: 'run',
    data: runOf({ ...run, actor: run.actor ?? sender ?? null }, repository, workflow),
  }),
)

export const workflowJob = repositoryEvent({ workflow_job: WorkflowJob }, ({ workflow_job: job }, repository) => ({
  kind: 'job',
  data: jobOf(job, repository),
}))

export const checkRun = repositoryEvent({ check_run: CheckRun }, ({ check_run: check }, repository) => ({
  kind: 'check',
  data: checkOf(check, repository),
}))
