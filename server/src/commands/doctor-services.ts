import { verifyMailServer } from '../access/links/send-mail.ts'
import { isListedEvent } from '../access/oidc-trusts/trusted-events.ts'
import { listTrustEvents } from '../access/oidc-trusts/trusts/trust-event.store.ts'
import { listUnstatedProxies } from '../access/rate-limit.store.ts'
import { findServerProvider, openIssuer } from '../access/sso/open-provider.ts'
import { APP_PROVIDERS, type AppProvider, getCodeHost } from '../codehosts/catalogue.ts'
import { countCalls } from '../codehosts/connections/call.store.ts'
import { listConnections, listWaiting } from '../codehosts/connections/connection-list.store.ts'
import { countDeliveries } from '../codehosts/deliveries/delivery.store.ts'
import { checkOpa } from '../compliance/engines/opa-server.ts'
import { listUnrefusedCalls } from '../compliance/engines/rego-capabilities.ts'
import { listOldScopes } from '../compliance/policies/policy-version.store.ts'
import type { Config } from '../config.ts'
import { listOrganizations } from '../organizations/organization.store.ts'
import { DAY_MS } from '../platform/clock.ts'
import { listAllowedHosts } from '../platform/outbound/allowed-host.store.ts'
import type { Services } from '../services.ts'
import { type Check, type Result, toAppCheck } from './doctor-finding.ts'
import { formatRefusals } from './provider.ts'

/** The checks of other servers that the settings name. */
export function defineServiceChecks({ opaUrl, smtp, sso }: Config): Check[] {
  return [
    ...(opaUrl === null ? [] : [{ check: 'opa', examine: () => checkOpaServer(opaUrl) } as const]),
    ...(smtp === null ? [] : [{ check: 'mail', examine: checkMail } as const]),
    ...(sso === null ? [] : [{ check: 'identity provider', examine: checkIssuer } as const]),
  ]
}

async function checkOpaServer(url: string): Promise<Result> {
  await checkOpa(url)
  const unrefused = await listUnrefusedCalls(url)
  const detail = `the OPA server at ${url} answers, and Rego of repositories calls only what is allowed`
  if (unrefused.length === 0) return { ok: true, detail }
  return { ok: false, detail: `Rego of repositories could call ${unrefused.join(', ')} on the OPA server at ${url}` }
}

async function checkMail({ config }: Services): Promise<Result> {
  await verifyMailServer(config)
  return { ok: true, detail: 'the mail server accepts us' }
}

async function checkIssuer(services: Services): Promise<Result> {
  const provider = await findServerProvider(services)
  if (provider) await openIssuer(services, provider)
  return { ok: true, detail: `${provider?.issuer} answers` }
}

const EVENT_DAYS = 90

/**
 * Jobs that count as untrusted are no failure. Whoever trusts them creates a trust that says so.
 */
export async function checkTrusts({ sql, clock }: Services): Promise<Result> {
  const now = clock.now()
  const seen = await listTrustEvents(sql, new Date(now.getTime() - EVENT_DAYS * DAY_MS), now)
  if (seen.length === 0) return { ok: true, detail: `no trust let in untrusted jobs in ${EVENT_DAYS} days` }
  const listed = seen.map(({ slug, name, trust_id, event, self_hosted, last_seen }) => {
    const jobs = self_hosted ? `${event} on self-hosted runners of a public repository` : event
    const options = [
      ...(isListedEvent(event) ? [] : [`--trusted-event ${event}`]),
      ...(self_hosted ? ['--self-hosted'] : []),
    ]
    return `"${name}" (${trust_id}) let in ${jobs}, last on ${last_seen}: trust create --org ${slug} … ${options.join(' ')}`
  })
  return { ok: true, detail: `jobs that count as untrusted unless a trust says otherwise: ${listed.join('; ')}` }
}

/** Policies that keep the scope of an earlier version of Shiplock are no failure. */
export async function checkPolicies({ sql }: Services): Promise<Result> {
  const found = await listOldScopes(sql)
  if (found.length === 0) return { ok: true, detail: 'no policy has the scope of an earlier version of Shiplock' }
  const slugs = new Map((await listOrganizations(sql)).map(({ id, slug }) => [id, slug]))
  const listed = found.map(({ org_id, name, path }) => {
    const slug = slugs.get(org_id)
    return path === null ? `policy dry-run --org ${slug} --name "${name}"` : `${name} in ${path} (${slug})`
  })
  const detail = `policies that look at one attempt until their next version; a dry run shows what that changes: ${listed.join('; ')}`
  return { ok: true, detail }
}

/** Where tenants may have issuers and identity providers beside the public internet. */
async function checkPrivateAddresses({ sql, config }: Services): Promise<Result> {
  const networks = config.allowedNetworks.length === 0 ? 'none' : config.allowedNetworks.join(', ')
  const stored = (await listAllowedHosts(sql)).map(({ origin, networks: found, found_at }) =>
    found === null
      ? `${origin} (its name is unknown, so it is refused; it is looked up at the next start)`
      : `${origin} (in ${found.join(', ')}, since ${found_at.toISOString().slice(0, 10)})`,
  )
  const hosts = stored.length === 0 ? '' : `; hosts that were in use or named on the command line: ${stored.join('; ')}`
  return { ok: true, detail: `SHIPLOCK_ALLOWED_NETWORKS: ${networks}${hosts}` }
}

const PROXY_DAYS = 7

/** Any client can send the header, so that it is no failure. */
export async function checkProxies({ sql, clock, config }: Services): Promise<Result> {
  if (config.trustedProxies !== null) return { ok: true, detail: 'SHIPLOCK_TRUSTED_PROXIES is stated' }
  const seen = await listUnstatedProxies(sql, new Date(clock.now().getTime() - PROXY_DAYS * DAY_MS))
  if (seen.length === 0) return { ok: true, detail: `no request came through a proxy in ${PROXY_DAYS} days` }
  const addresses = seen.map(({ address }) => address).join(', ')
  const detail = `requests with X-Forwarded-For come from ${addresses}: set SHIPLOCK_TRUSTED_PROXIES to the addresses of your reverse proxies, or to none`
  return { ok: true, detail }
}

/** The checks of code hosts, in the order in which `doctor` shows them. */
export const CODE_HOST_CHECKS: readonly Check[] = [
  ...APP_PROVIDERS.map((provider) => ({
    check: toAppCheck(provider),
    examine: (services: Services) => checkApp(services, provider),
  })),
  { check: 'proxies', examine: checkProxies },
  { check: 'trusts', examine: checkTrusts },
  { check: 'policies', examine: checkPolicies },
  { check: 'private addresses', examine: checkPrivateAddresses },
  { check: 'connections', examine: checkConnections },
  { check: 'installations', examine: checkWaiting },
  { check: 'deliveries', examine: checkDeliveries },
  { check: 'calls', examine: checkCalls },
]

/** A server without code hosts is in order. Stored credentials must be readable. */
async function checkApp({ config, hostApps }: Services, provider: AppProvider): Promise<Result> {
  const credentials = await hostApps.get(provider)?.read()
  if (!credentials) return { ok: true, detail: `not configured; run "provider setup ${provider}"` }
  const source = config.hostApps[provider] ? `${getCodeHost(provider).appSettings}_…` : 'the database'
  const secrets = credentials.webhook_secrets.length
  const detail = `App ${credentials.app_id} at ${credentials.api_url}, from ${source}`
  return { ok: true, detail: secrets > 1 ? `${detail}, with ${secrets} webhook secrets` : detail }
}

const REFUSALS_SHOWN = 10

/** A part that a host refuses is no failure: the account may not use it. */
async function checkConnections({ sql }: Services): Promise<Result> {
  const listed = (await listConnections(sql, null)).map(({ connection }) => connection)
  const present = listed.filter(({ status }) => status !== 'removed')
  const problems = present.flatMap(({ account, status, sync }) => [
    ...(status === 'suspended' ? [`${account?.login} is suspended on its code host`] : []),
    ...(sync.state === 'failed' ? [`the synchronization of ${account?.login} failed: ${sync.error}`] : []),
  ])
  return {
    ok: problems.length === 0,
    detail: [
      `${present.length} connected ${present.length === 1 ? 'account' : 'accounts'}`,
      ...problems,
      ...present.flatMap((connection) => formatRefusals(connection, REFUSALS_SHOWN)),
    ].join('; '),
  }
}

/** Waiting installations are no failure, but their events are not applied. */
async function checkWaiting({ sql }: Services): Promise<Result> {
  const waiting = await listWaiting(sql, null)
  if (waiting.length === 0) return { ok: true, detail: 'none is waiting' }
  const names = waiting.map(({ id, account }) => (account ? `${account.login} (${id})` : id))
  return { ok: true, detail: `waiting for "provider connect": ${names.join(', ')}` }
}

/** Failed deliveries stay until they are replayed or deleted after 90 days. */
async function checkDeliveries({ sql }: Services): Promise<Result> {
  const { failed, waiting } = await countDeliveries(sql)
  const waits = `${waiting} webhook deliveries wait for a connection`
  if (failed === 0) return { ok: true, detail: `none has failed; ${waits}` }
  return { ok: false, detail: `${failed} have failed; ${waits}` }
}

const CALLS_SHOWN_DAYS = 7

/** A failed call is not tried again, so only the last days count. */
async function checkCalls({ sql, clock }: Services): Promise<Result> {
  const since = new Date(clock.now().getTime() - CALLS_SHOWN_DAYS * DAY_MS)
  const { failed, refused, retried } = await countCalls(sql, since)
  const detail = `${failed} calls to code hosts have failed in ${CALLS_SHOWN_DAYS} days, ${refused} were refused, ${retried} are tried again`
  return { ok: failed === 0, detail }
}
