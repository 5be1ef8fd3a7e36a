import type { Deployment, GateKind, RuleAnswer, Run, RunApproval } from '../types.ts'
import type { World } from '../world.ts'
import { setDeploymentState } from './deployments.ts'
import { endJob, lastAttempt, queueJob, setRunStatus } from './jobs.ts'
import { continueRun } from './progress.ts'

type Review = { state: 'approved' | 'rejected'; by: string; comment?: string }

/** A reviewer answers for a deployment that waits. */
export function review(world: World, deployment: Deployment, answer: Review): void {
  const { run, repository } = deployment
  const approval = addApproval(world, deployment, answer)
  world.emit({ type: 'approval', repository, by: approval.user, run, approval })
  decideGate(world, deployment, 'reviewers', answer.state)
}

export function addApproval(world: World, deployment: Deployment, answer: Review): RunApproval {
  const { state, by, comment = '' } = answer
  const approval = { ...world.newIds(), deployment, state, user: world.account(by), comment, at: world.now() }
  deployment.run.approvals.push(approval)
  return approval
}

/**
 * Our program has answered for our rule. `state` is null for a comment while it waits. A rule that
 * has decided keeps its decision: an answer that is repeated changes nothing.
 */
export function answerRule(
  world: World,
  deployment: Deployment,
  { state, comment }: Pick<RuleAnswer, 'state' | 'comment'>,
): void {
  const run_id = deployment.run.id
  world.ruleAnswers.push({ run_id, environment: deployment.environment.name, state, comment })
  if (state !== null && deployment.gates.get('ours') === 'pending') decideGate(world, deployment, 'ours', state)
}

/** One rule has decided: a rejection ends the job, the last approval lets it go on. */
export function decideGate(world: World, deployment: Deployment, gate: GateKind, state: 'approved' | 'rejected'): void {
  if (deployment.gates.get(gate) !== 'pending') throw new Error(`The deployment does not wait for ${gate}`)
  deployment.gates.set(gate, state)
  const { run, job } = deployment
  if (state === 'rejected') {
    endJob(world, run, job, 'failure')
    continueRun(world, run)
  } else if ([...deployment.gates.values()].every((value) => value === 'approved')) {
    goOn(world, deployment)
  }
}

/** An administrator starts a job without the approvals that it waits for. */
export function bypass(world: World, deployment: Deployment): void {
  deployment.gates.clear()
  goOn(world, deployment)
}

function goOn(world: World, deployment: Deployment): void {
  const { run, job } = deployment
  queueJob(world, run, job)
  setDeploymentState(world, deployment, 'queued')
  if (lastAttempt(run).status === 'waiting') setRunStatus(world, run, 'queued')
}

/** The newest deployment of a run to an environment that still waits. */
export function waitingDeployment(run: Run, environment: string): Deployment {
  const jobs = lastAttempt(run).jobs.filter(({ status }) => status === 'waiting')
  const deployment = jobs.find((job) => job.environment?.toLowerCase() === environment.toLowerCase())?.deployment
  if (!deployment) throw new Error(`Run ${run.id} does not wait for ${environment}`)
  return deployment
}
