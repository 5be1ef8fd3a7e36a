import { createHash, createHmac } from 'node:crypto'
import type { ConnectingServer, FakeHost, HostAbilities } from '../hosts/fake-host.ts'
import { HttpError } from '../hosts/http-error.ts'
import { idsOf } from '../hosts/ids-of.ts'
import { type RestServer, startRestServer } from '../hosts/rest-server.ts'
import { setCommitStatus } from '../hosts/stories/remarks.ts'
import { Stories } from '../hosts/stories/stories.ts'
import { bearerOf, Tokens } from '../hosts/tokens.ts'
import { Trouble } from '../hosts/trouble.ts'
import type { Account, Alert } from '../hosts/types.ts'
import { type HookDelivery, Webhooks } from '../hosts/webhooks.ts'
import { fullName, World } from '../hosts/world.ts'
import type { Json } from '../json.ts'
import type { Bitbucket, Caller } from './api.ts'
import { bitbucketDescription } from './description.ts'
import { sendEvents } from './events.ts'
import { BITBUCKET_PAGES } from './pages.ts'
import { changeRoutes } from './routes/changes.ts'
import { hookRoutes } from './routes/hooks.ts'
import { annotationId, insightRoutes, reportId } from './routes/insights.ts'
import { pipelineRoutes } from './routes/pipelines.ts'
import { repositoryRoutes } from './routes/repositories.ts'

export const BITBUCKET_ABILITIES: HostAbilities = {
  gate: false,
  reviewers: false,
  comments: false,
  reruns: true,
  alerts: ['code_scanning'],
  dismissals: [],
}

export type FakeBitbucket = FakeHost & {
  world: World
  url: string
  hooks: Webhooks
  trouble: Trouble
  tokens: Tokens
  /** A new access token of a workspace. */
  token(login: string): string
  /** An operation answers with this status from now on. */
  failing(operation: string, status: number): void
}

const TRIES_MAX = 3

/**
 * https://support.atlassian.com/bitbucket-cloud/docs/troubleshoot-webhooks/, "Request logs": "If the
 * status code in the payload response is in the 500-599 range, Bitbucket automatically resends the
 * request up to two more times." What did not arrive is not sent again. No page says that Bitbucket
 * ever disables a webhook.
 */
class BitbucketWebhooks extends Webhooks {
  protected override tried(delivery: HookDelivery): void {
    const { statusCode = 0, status = '' } = delivery.tries.at(-1) ?? {}
    const isAnswer = statusCode >= 500 && statusCode <= 599 && status.startsWith('Invalid HTTP Response')
    if (isAnswer && delivery.tries.length < TRIES_MAX) this.send(delivery, true)
  }
}

/** What needs no access token. */
const PUBLIC = ['POST /site/oauth2/access_token', 'GET /storage/{name}']
/** Where Bitbucket redirects to: its own address is a comparison of two commits. */
const COMPARED = 'GET /2.0/repositories/{workspace}/{repo_slug}/pullrequests/{pull_request_id}/diffstat/compared'
/** Hashes are the numbers of alerts: the first 53 bits. */
const SKIPPED_BITS = 11n

/**
 * A Bitbucket Cloud with state on a loopback port, which shows the world in Bitbucket's own forms.
 */
export async function startFakeBitbucket(): Promise<FakeBitbucket> {
  const world = new World()
  // https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/, "HTTP headers", and
  // https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/, "Secure webhooks".
  const hooks = new BitbucketWebhooks(world, ({ hook, event, guid, tries }, body) => ({
    'user-agent': 'Bitbucket-Webhooks/2.0',
    'x-event-key': event,
    'x-hook-uuid': hook.uuid,
    'x-request-uuid': guid,
    'x-attempt-number': String(tries.length + 1),
    'x-hub-signature': `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`,
  }))
  const tokens = new Tokens('ATCTT3xFfGN0')
  const server = await startRestServer()
  const bitbucket: Bitbucket = { world, hooks, tokens, url: () => server.url }
  const trouble = new Trouble()
  const revoked = new Set<string>()
  serve({ ...bitbucket, server, trouble, revoked })
  world.onChange((change) => sendEvents(hooks, change))
  world.onChange((change) => {
    if (change.type === 'alert') reportScan(world, change.alert)
  })
  return fakeHost({ ...bitbucket, server, trouble, revoked })
}

function serve(bitbucket: Parts): void {
  const { server, trouble, revoked } = bitbucket
  const routes = {
    ...repositoryRoutes(bitbucket),
    ...pipelineRoutes(bitbucket),
    ...changeRoutes(bitbucket),
    ...insightRoutes(bitbucket),
    ...hookRoutes(bitbucket),
  }
  server.serve<Caller>({
    routes,
    pages: BITBUCKET_PAGES,
    trouble,
    violations: bitbucket.world.violations,
    authenticate({ operation, headers }) {
      const value = bearerOf(headers.authorization)
      if (value !== null && revoked.has(value)) throw new HttpError(401, 'Token is invalid, expired, or not supported.')
      return PUBLIC.includes(operation) ? null : bitbucket.tokens.ownerOf(value)
    },
    errorBody: (_, message) => ({ type: 'error', error: { message } }),
    description: bitbucketDescription(),
    undescribed: [...PUBLIC, COMPARED],
  })
}

/** Code Insights has no events, but the tool that writes a report also sets a build status. */
function reportScan(world: World, { repository, details }: Alert): void {
  const sha = repository.refs.get(`refs/heads/${repository.default_branch}`)
  if (sha === undefined) return
  const about = { context: details.tool.name, state: 'success', description: null, target_url: null } as const
  setCommitStatus(world, repository, { ...about, sha, by: world.account('scanner') })
}

type Parts = Bitbucket & { server: RestServer; trouble: Trouble; revoked: Set<string> }

function fakeHost({ world, hooks, tokens, server, trouble, revoked, url }: Parts): FakeBitbucket {
  const issued = new Map<string, string[]>()
  const token = (login: string) => {
    const { value } = tokens.issue(world.organization(login))
    issued.set(login, [...(issued.get(login) ?? []), value])
    return value
  }
  const connect = (program: ConnectingServer, login: string): Promise<Json> => {
    const about = ['--org', 'default', '--provider', 'bitbucket', '--account', login, '--token-file', '-']
    return program.commandWithInput(token(login), 'provider', 'connect', ...about)
  }
  return {
    provider: 'bitbucket',
    name: 'Bitbucket',
    can: BITBUCKET_ABILITIES,
    stories: new Stories(world),
    webhooks: hooks,
    trouble,
    violations: world.violations,
    requests: server.requests,
    world,
    url: url(),
    hooks,
    tokens,
    token,
    failing: (operation, status) => void trouble.failing.set(operation, status),
    settings: () => ({ SHIPLOCK_BITBUCKET_API_URL: url() }),
    follow: () => undefined,
    connect,
    rotateCredentials: async (program, login) => void (await connect(program, login)),
    revokeOldCredentials(login) {
      for (const value of issued.get(login)?.slice(0, -1) ?? []) revoked.add(value)
    },
    revokeCredentials: (login) => tokens.revoke(world.organization(login)),
    hookCount: (login) => hookCount(world.organization(login), hooks, world),
    fullName,
    repositoryId: ({ uuid }) => uuid,
    runId: ({ run }) => `bb_run_${run.uuid}`,
    deploymentId: ({ uuid }) => `bb_deployment_${uuid}`,
    alertId,
    idsOf,
    close: async () => {
      await hooks.settled()
      await server.close()
    },
  }
}

function hookCount(workspace: Account, { hooks }: Webhooks, world: World): number {
  const repositories = world.repositoriesOf(workspace).map(({ uuid }) => `repository ${uuid}`)
  return hooks.filter(({ scope }) => [`workspace ${workspace.uuid}`, ...repositories].includes(scope)).length
}

function alertId(alert: Alert): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([reportId(alert), annotationId(alert)]))
    .digest()
  const number = Number(digest.readBigUInt64BE() >> SKIPPED_BITS)
  return `bb_alert_${alert.type}_${alert.repository.uuid}_${number}`
}
