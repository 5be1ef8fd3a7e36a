import { formatHostDeploymentId, type HostDeployment, type HostDeploymentState } from '../codehosts/host-deployment.ts'
import type { HostRepository } from '../codehosts/host-repository.ts'
import type { HostRun } from '../codehosts/host-run.ts'
import { answer } from './answers.ts'
import { reportDelivery } from './ci-reports.ts'
import { completeRun, startHostRun } from './host-runs.ts'
import { type DemoRepository, RELEASE_MANAGERS } from './world/company.ts'
import { type Demo, getTimeAfter, type Step } from './world/demo.ts'

/** A landed change of a service on its way to production. */
export type Delivery = {
  repository: HostRepository
  about: DemoRepository
  number: number
  title: string
  author: string
  merge: string
  start: Date
  /** The newest change of the repository, whose delivery to production may still wait. */
  isLast: boolean
}

let lastId = 0
let lastStatus = 0

/**
 * The run that deploys a change to development, staging and, once it is approved, to production.
 */
export function makeDeliverySteps(demo: Demo, delivery: Delivery): Step[] {
  const { start, about } = delivery
  const { random } = demo
  const asked = getTimeAfter(start, 9)
  const answered = getTimeAfter(asked, 4 + random.below(random.next() < 0.2 ? 300 : 50))
  const outcome = selectOutcome(demo, delivery)
  const told: { run?: HostRun; production?: HostDeployment } = {}
  const steps: Step[] = [
    {
      at: asked,
      async tell(demo) {
        told.run = await startRun(demo, delivery)
        await deployTo(demo, { delivery, run: told.run, environment: 'development' }, [
          getTimeAfter(start, 1),
          getTimeAfter(start, 3),
        ])
        await deployTo(demo, { delivery, run: told.run, environment: 'staging' }, [
          getTimeAfter(start, 4),
          getTimeAfter(start, 7),
        ])
        await reportDelivery(demo, told.run, about)
        demo.clock.advance(asked)
        told.production = await askForProduction(demo, delivery, told.run, asked)
      },
    },
  ]
  if (outcome === 'waiting') return steps
  steps.push({
    at: answered,
    async tell(demo) {
      const { run, production } = told as Required<typeof told>
      await finish(demo, { delivery, run, production, outcome, at: answered })
    },
  })
  return steps
}

type Outcome = 'success' | 'failure' | 'rejected' | 'waiting'

function selectOutcome({ random }: Demo, { about, isLast }: Delivery): Outcome {
  if (isLast && about.name === 'identity') return 'waiting'
  if (isLast) return about.name === 'web-storefront' ? 'failure' : 'success'
  const chance = random.next()
  return chance < 0.1 ? 'failure' : chance < 0.15 ? 'rejected' : 'success'
}

async function startRun(demo: Demo, delivery: Delivery): Promise<HostRun> {
  const { repository, merge, author, start, title, number } = delivery
  const run = startHostRun(demo, {
    repository,
    workflow: 'deploy',
    kind: 'workflow',
    ref: 'refs/heads/main',
    sha: merge,
    login: author,
    start,
    message: `${title} (#${number})`,
  })
  await demo.apply({ kind: 'run', data: run })
  return run
}

type Target = { delivery: Delivery; run: HostRun; environment: string }

function newDeployment(demo: Demo, { delivery, run, environment }: Target, at: Date): HostDeployment {
  lastId += 1
  return {
    repository: delivery.repository,
    id: `${880_000 + lastId}`,
    environment,
    ref: 'main',
    commit_sha: delivery.merge,
    run: { id: run.id, attempt: 1 },
    creator: demo.account(delivery.author),
    description: null,
    created_at: at,
    updated_at: at,
  }
}

async function deployTo(demo: Demo, target: Target, [start, end]: [Date, Date]): Promise<void> {
  const deployment = newDeployment(demo, target, start)
  demo.clock.advance(start)
  await demo.apply({ kind: 'deployment', data: deployment })
  await report(demo, deployment, 'in_progress', start)
  demo.clock.advance(end)
  await report(demo, deployment, 'success', end)
}

async function report(demo: Demo, deployment: HostDeployment, state: HostDeploymentState, at: Date): Promise<void> {
  const { repository, environment, id } = deployment
  lastStatus += 1
  const name = repository.full_name.split('/')[1]
  await demo.apply({
    kind: 'deployment_status',
    data: {
      deployment: { ...deployment, updated_at: at },
      id: `${id}${lastStatus}`,
      state,
      job_id: null,
      created_at: at,
      environment_url: state === 'success' ? `https://${name}.${environment}.northlane.example.com` : null,
      log_url: null,
      creator: demo.account('malvarez'),
    },
  })
}

async function askForProduction(demo: Demo, delivery: Delivery, run: HostRun, at: Date): Promise<HostDeployment> {
  const { repository } = delivery
  const deployment = newDeployment(demo, { delivery, run, environment: 'production' }, at)
  await demo.apply({ kind: 'deployment', data: deployment })
  await report(demo, deployment, 'waiting', at)
  if (delivery.about.name === 'identity') {
    await review(demo, run, 'requested', at)
    return deployment
  }
  const callback_url = `${repository.html_url}/actions/runs/${run.id}/deployment_protection_rule`
  const request = { repository, environment: 'production', deployment, run: deployment.run, ref: 'main' }
  await demo.apply({
    kind: 'gate_request',
    data: {
      ...request,
      commit_sha: delivery.merge,
      callback_url,
      callback_secret: null,
      is_rule: true,
      requested_at: at,
    },
  })
  await demo.settle()
  return deployment
}

async function review(demo: Demo, run: HostRun, state: 'requested' | 'approved' | 'rejected', at: Date): Promise<void> {
  const isAnswer = state !== 'requested'
  await demo.apply({
    kind: 'deployment_review',
    data: {
      repository: run.repository,
      run: { id: run.id, attempt: 1 },
      environments: ['production'],
      state,
      at,
      reviewer: isAnswer ? demo.account('malvarez') : null,
      comment: isAnswer
        ? state === 'approved'
          ? 'Release window agreed with support'
          : 'Not during the freeze'
        : null,
    },
  })
}

type Finish = { delivery: Delivery; run: HostRun; production: HostDeployment; outcome: Outcome; at: Date }

async function finish(demo: Demo, { delivery, run, production, outcome, at }: Finish): Promise<void> {
  const { about } = delivery
  const isApproved = await decide(demo, { delivery, run, production, outcome, at })
  await demo.settle()
  const started = getTimeAfter(at, 1)
  const ended = getTimeAfter(at, 5 + demo.random.below(4))
  demo.clock.advance(started)
  if (isApproved) await report(demo, production, 'in_progress', started)
  demo.clock.advance(ended)
  const state = isApproved ? (outcome === 'failure' ? 'failure' : 'success') : 'cancelled'
  if (isApproved) await report(demo, production, state as 'success', ended)
  await completeRun(demo, run, state === 'success' ? 'success' : 'failure', ended)
  if (state === 'success') await reportDelivery(demo, run, about)
}

/** Somebody answers. Returns whether the deployment may go on. */
async function decide(demo: Demo, { delivery, run, production, outcome, at }: Finish): Promise<boolean> {
  const isApproved = outcome !== 'rejected'
  if (delivery.about.name === 'identity') {
    await review(demo, run, isApproved ? 'approved' : 'rejected', at)
    return isApproved
  }
  const id = formatHostDeploymentId('github', production.id)
  return answer(demo, { id, isApproved, by: [...RELEASE_MANAGERS], overriddenBy: ['sokafor', 'isolberg'] })
}
