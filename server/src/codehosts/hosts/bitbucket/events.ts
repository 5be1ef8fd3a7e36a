import { type Static, Type } from 'typebox'
import type { TranslatedDelivery } from '../../code-host.ts'
import type { ObjectChange } from '../../host-event.ts'
import { Id, Maybe, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { parseUuid } from './client.ts'
import { parsePipelineNumber } from './commits.ts'
import { Account, parseAccount } from './repositories.ts'

type ParseEvent = (payload: unknown) => ObjectChange[]

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
const PARSERS: ReadonlyMap<string, ParseEvent> = new Map<string, ParseEvent>([
  ['repo:push', parsePushEvent],
  ['repo:updated', createRepositoryParser('changed')],
  ['repo:transfer', createRepositoryParser('changed')],
  ['repo:deleted', createRepositoryParser('deleted')],
  ['repo:commit_status_created', parseBuildStatusEvent],
  ['repo:commit_status_updated', parseBuildStatusEvent],
  ['pipeline:span_created', parseSpansEvent],
  ...PULL_REQUEST_EVENTS.map((name): [string, ParseEvent] => [`pullrequest:${name}`, parsePullRequestEvent]),
])

/** The events that webhooks ask for. */
export const EVENTS: readonly string[] = [...PARSERS.keys()]

/** What has changed: the objects are read from Bitbucket. */
export function parseDelivery(event: string, payload: unknown): TranslatedDelivery {
  const parse = PARSERS.get(event)
  const changes = parse?.(payload) ?? []
  return changes.length === 0 ? { type: 'unknown' } : { type: 'changes', changes }
}

function createRepositoryParser(change: 'changed' | 'deleted'): ParseEvent {
  return (payload) => {
    const { repository } = readAs(Type.Object({ repository: Repository }), payload)
    return [{ type: 'repository', repository_id: parseUuid(repository.uuid), change }]
  }
}

function parsePullRequestEvent(payload: unknown): ObjectChange[] {
  const { repository, pullrequest } = readAs(PullRequestEvent, payload)
  return [{ type: 'pull_request', repository_id: parseUuid(repository.uuid), number: pullrequest.id }]
}

/** One push for each ref that changed. */
function parsePushEvent(payload: unknown): ObjectChange[] {
  const { actor, repository, push } = readAs(PushEvent, payload)
  const repository_id = parseUuid(repository.uuid)
  return push.changes.flatMap((change): ObjectChange[] => {
    const ref = change.new ?? change.old
    if (!ref) return []
    const pushed = {
      ref: `refs/${ref.type?.includes('tag') ? 'tags' : 'heads'}/${ref.name}`,
      before: change.old?.target.hash ?? null,
      after: change.new?.target.hash ?? null,
      forced: change.forced ?? false,
      pusher: parseAccount(actor),
      by_merge_queue: false,
      pushed_at: pushTime(change),
    }
    return [{ type: 'push', repository_id, push: pushed }]
  })
}

/**
 * Bitbucket does not say when a push happened. That of its newest commit stands for it, which is
 * the same in whatever order webhooks arrive.
 */
function pushTime({ old, new: current }: Static<typeof RefChange>): Date {
  const times = [old, current].map((ref) => new Date(ref?.target.date ?? 0).getTime())
  return new Date(Math.max(...times))
}

/**
 * Pipelines report their start and their end as a build status, which is how an open pipeline is
 * read again: its number is in the address. Code Insights has no events: pipelines and the tools
 * that report build statuses write its reports, so alerts are read when a build has ended.
 */
function parseBuildStatusEvent(payload: unknown): ObjectChange[] {
  const { repository, commit_status } = readAs(BuildStatusEvent, payload)
  const repository_id = parseUuid(repository.uuid)
  const sha = commit_status.commit?.hash ?? commit_status.links?.commit?.href?.split('/').at(-1)
  const number = parsePipelineNumber(commit_status.url, repository.full_name)
  return [
    ...(sha ? [{ type: 'checks' as const, repository_id, commit_sha: sha }] : []),
    ...(number === null ? [] : createRunChanges(repository_id, number)),
    ...(commit_status.state === 'INPROGRESS' ? [] : [{ type: 'alerts' as const, repository_id }]),
  ]
}

function parseSpansEvent(payload: unknown): ObjectChange[] {
  return parseSpans(payload).flatMap(({ repository, pipeline }) => createRunChanges(repository, pipeline))
}

/** Bitbucket has no events of deployments: they are read with the pipeline that deploys. */
function createRunChanges(repository_id: string, id: string): ObjectChange[] {
  return [
    { type: 'run', repository_id, id },
    { type: 'run_deployments', repository_id, run_id: id },
  ]
}

const Repository = Type.Object({ uuid: Text, full_name: Text })

const PullRequestEvent = Type.Object({ repository: Repository, pullrequest: Type.Object({ id: Id }) })

const Ref = Maybe(
  Type.Object({ type: Maybe(Text), name: Text, target: Type.Object({ hash: Text, date: Maybe(Timestamp) }) }),
)
const RefChange = Type.Object({ old: Ref, new: Ref, forced: Maybe(Type.Boolean()) })

const PushEvent = Type.Object({
  actor: Maybe(Account),
  repository: Type.Object({ uuid: Text }),
  push: Type.Object({ changes: Type.Array(RefChange) }),
})

const BuildStatusEvent = Type.Object({
  repository: Repository,
  commit_status: Type.Object({
    state: Maybe(Text),
    url: Maybe(Text),
    commit: Maybe(Type.Object({ hash: Text })),
    links: Maybe(Type.Object({ commit: Maybe(Type.Object({ href: Maybe(Text) })) })),
  }),
})

const Attribute = Type.Object({ key: Text, value: Maybe(Type.Object({ stringValue: Maybe(Text) })) })
const Span = Type.Object({ name: Text, attributes: Maybe(Type.Array(Attribute)) })

/** A trace of OpenTelemetry as JSON. */
const Trace = Type.Object({
  resourceSpans: Type.Array(
    Type.Object({ scopeSpans: Maybe(Type.Array(Type.Object({ spans: Maybe(Type.Array(Span)) }))) }),
  ),
})

/** The other spans are commands and containers of steps, which we do not read. */
const SPANS = ['bbc.pipeline_run', 'bbc.pipeline_step', 'bbc.step']

type PipelineName = { repository: string; pipeline: string }

/** The pipelines of which an attempt or a step has ended, each once. */
export function parseSpans(payload: unknown): PipelineName[] {
  const { resourceSpans } = readAs(Trace, payload)
  const spans = resourceSpans.flatMap(({ scopeSpans }) => (scopeSpans ?? []).flatMap((scope) => scope.spans ?? []))
  const named = spans
    .filter(({ name }) => SPANS.includes(name))
    .flatMap(({ attributes }) => parsePipelineName(attributes ?? []) ?? [])
  return [...new Map(named.map((one) => [one.pipeline, one])).values()]
}

function parsePipelineName(attributes: Static<typeof Attribute>[]): PipelineName | null {
  const uuid = (name: string) => {
    const value = attributes.find(({ key }) => key === name)?.value?.stringValue
    return value ? parseUuid(value) : null
  }
  const repository = uuid('pipeline.repository.uuid')
  const pipeline = uuid('pipeline.uuid')
  return repository === null || pipeline === null ? null : { repository, pipeline }
}
