import { randomUUID } from 'node:crypto'
import examples from '@octokit/webhooks-examples' with { type: 'json' }
import type { NewDelivery } from '../src/codehosts/deliveries/delivery.ts'
import { readHead } from '../src/codehosts/hosts/github/webhook.ts'
import type { BulkHost } from './bulk-host.ts'

export const STORY_REPOSITORIES = 20
/** The deliveries of a story. */
export const STORY_DELIVERIES = 20

type Sender = Pick<BulkHost, 'installation' | 'account'>
const SECOND_MS = 1000

type Payload = Record<string, unknown>
type Example = { name: string; examples: Payload[] }

/**
 * The 20 deliveries of one run of a workflow that deploys, of its pull request, its push and an
 * alert, in the order in which GitHub sends them. Each number is another run.
 */
export function newStory(sender: Sender, number: number): NewDelivery[] {
  const id = (kind: number) => number * 100 + kind
  const sha = number.toString(16).padStart(40, '0')
  const at = (seconds: number) => new Date(Date.now() + (seconds - 600) * SECOND_MS).toISOString()
  const send = (event: string, action: string | undefined, parts: Record<string, Payload>) =>
    newDelivery(sender, { event, action, repository: 1 + (number % STORY_REPOSITORIES) }, parts)
  const run = (status: string, seconds: number, conclusion: string | null = null) => {
    const [created_at, updated_at] = [at(0), at(seconds)]
    const times = { created_at, updated_at, run_started_at: created_at }
    const workflow_run = { id: id(0), run_number: number, head_sha: sha, status, conclusion, ...times }
    return { workflow_run: { ...workflow_run, pull_requests: [], event: 'push' } }
  }
  const job = (at: number, status: string, conclusion: string | null = null) => ({
    workflow_job: { id: id(at), run_id: id(0), head_sha: sha, run_attempt: 1, status, conclusion },
  })
  const check = (at: number, status: string, conclusion: string | null = null) => ({
    check_run: { id: id(at), head_sha: sha, status, conclusion },
  })
  const deployment = { id: id(3), sha, environment: 'production', created_at: at(3), updated_at: at(3) }
  const status = (kind: number, state: string) => ({
    deployment,
    deployment_status: { id: id(kind), state, created_at: at(kind), updated_at: at(kind) },
    workflow_run: { id: id(0), run_attempt: 1 },
  })
  const jobs = [1, 2]
  return [
    send('pull_request', 'opened', { pull_request: { number, updated_at: at(-9) } }),
    send('push', undefined, { push: { after: sha, ref: 'refs/heads/main' } }),
    send('workflow_run', 'requested', run('queued', 0)),
    ...jobs.map((at) => send('workflow_job', 'queued', job(at, 'queued'))),
    ...jobs.map((at) => send('check_run', 'created', check(at, 'queued'))),
    send('workflow_run', 'in_progress', run('in_progress', 2)),
    ...jobs.map((at) => send('workflow_job', 'in_progress', job(at, 'in_progress'))),
    send('deployment', 'created', { deployment, workflow_run: { id: id(0), run_attempt: 1 } }),
    send('deployment_status', 'created', status(4, 'queued')),
    send('deployment_status', 'created', status(5, 'in_progress')),
    send('deployment_status', 'created', status(6, 'success')),
    ...jobs.map((at) => send('workflow_job', 'completed', job(at, 'completed', 'success'))),
    ...jobs.map((at) => send('check_run', 'completed', check(at, 'completed', 'success'))),
    send('workflow_run', 'completed', run('completed', 9, 'success')),
    send('dependabot_alert', 'created', { alert: { number } }),
  ]
}

type Named = { event: string; action: string | undefined; repository: number }

/**
 * An example of GitHub's with other values in the given objects. `push` names the payload itself.
 */
function newDelivery(
  { installation, account }: Sender,
  { event, action, repository: id }: Named,
  parts: Record<string, Payload>,
): NewDelivery {
  const example = exampleOf(event)
  const changed = Object.entries(parts).map(([name, values]) => [name, { ...(example[name] as Payload), ...values }])
  const { push, ...objects } = Object.fromEntries(changed)
  const name = `repository-${id}`
  const identity = { id, name, full_name: `${account.login}/${name}`, owner: { ...account, type: 'Organization' } }
  const payload = JSON.stringify({
    ...example,
    ...push,
    ...objects,
    ...(action && { action }),
    repository: { ...(example.repository as Payload), ...identity, default_branch: 'main', ...UNCHANGED },
    installation: { id: Number(installation) },
  })
  const headers = { 'x-github-delivery': randomUUID(), 'x-github-event': event }
  const head = readHead(Buffer.from(payload), headers)
  if (!head) throw new Error(`The delivery of ${event} has no head`)
  return { ...head, provider: 'github', received_at: new Date(), payload }
}

const UNCHANGED = { updated_at: '2026-01-31T12:00:00Z' }

function exampleOf(event: string): Payload {
  const [example] = (examples as unknown as Example[]).find(({ name }) => name === event)?.examples ?? []
  if (!example) throw new Error(`There is no example of ${event}`)
  return example
}
