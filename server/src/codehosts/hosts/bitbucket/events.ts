import { Type } from 'typebox'
import type { TranslatedDelivery } from '../../code-host.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import type { ObjectChange } from '../../object-change.ts'
import { bareUuid } from './client/uuid.ts'
import { pipelineNumber } from './objects/check.parser.ts'
import { pipelinesOf } from './events/pipeline-spans.ts'
import { pushesOf } from './events/push.ts'

type Translate = (payload: unknown) => ObjectChange[]

const PULL_REQUEST_EVENTS = [
  'created',
  'updated',
  'push',
  'approved',
  'unapproved',
  'changes_request_created',
  'changes_request_removed',
  'fulfilled',
  'rejected',
]

/** Every event that we use, by the name in `X-Event-Key`. */
const TRANSLATORS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['repo:push', pushesOf],
  ['repo:updated', repository('changed')],
  ['repo:transfer', repository('changed')],
  ['repo:deleted', repository('deleted')],
  ['repo:commit_status_created', buildStatus],
  ['repo:commit_status_updated', buildStatus],
  ['pipeline:span_created', pipelines],
  ...PULL_REQUEST_EVENTS.map((name): [string, Translate] => [`pullrequest:${name}`, pullRequest]),
])

/** The events that webhooks ask for. */
export const EVENTS: readonly string[] = [...TRANSLATORS.keys()]

/** What has changed: the objects are read from Bitbucket. */
export function translate(event: string, payload: unknown): TranslatedDelivery {
  const translator = TRANSLATORS.get(event)
  const changes = translator?.(payload) ?? []
  return changes.length === 0 ? { type: 'unknown' } : { type: 'changes', changes }
}

export const Repository = Type.Object({ uuid: Text, full_name: Text })

function repository(change: 'changed' | 'deleted'): Translate {
  return (payload) => {
    const named = readAs(Type.Object({ repository: Repository }), payload)
    return [{ type: 'repository', repository_id: bareUuid(named.repository.uuid), change }]
  }
}

const PullRequestEvent = Type.Object({ repository: Repository, pullrequest: Type.Object({ id: Id }) })

function pullRequest(payload: unknown): ObjectChange[] {
  const { repository: named, pullrequest } = readAs(PullRequestEvent, payload)
  return [{ type: 'pull_request', repository_id: bareUuid(named.uuid), number: pullrequest.id }]
}

const BuildStatusEvent = Type.Object({
  repository: Repository,
  commit_status: Type.Object({
    state: Maybe(Text),
    url: Maybe(Text),
    commit: Maybe(Type.Object({ hash: Text })),
    links: Maybe(Type.Object({ commit: Maybe(Type.Object({ href: Maybe(Text) })) })),
  }),
})

/**
 * Pipelines report their start and their end as a build status, which is how an open pipeline is
 * read again: its number is in the address. Code Insights has no events: pipelines and the tools
 * that report build statuses write its reports, so alerts are read when a build has ended.
 */
function buildStatus(payload: unknown): ObjectChange[] {
  const { repository: named, commit_status } = readAs(BuildStatusEvent, payload)
  const repository_id = bareUuid(named.uuid)
  const sha = commit_status.commit?.hash ?? commit_status.links?.commit?.href?.split('/').at(-1)
  const number = pipelineNumber(commit_status.url, named.full_name)
  return [
    ...(sha ? [{ type: 'checks' as const, repository_id, commit_sha: sha }] : []),
    ...(number === null ? [] : runChanges(repository_id, number)),
    ...(commit_status.state === 'INPROGRESS' ? [] : [{ type: 'alerts' as const, repository_id }]),
  ]
}

function pipelines(payload: unknown): ObjectChange[] {
  return pipelinesOf(payload).flatMap(({ repository: id, pipeline }) => runChanges(id, pipeline))
}

/** Bitbucket has no events of deployments: they are read with the pipeline that deploys. */
function runChanges(repository_id: string, id: string): ObjectChange[] {
  return [
    { type: 'run', repository_id, id },
    { type: 'run_deployments', repository_id, run_id: id },
  ]
}
