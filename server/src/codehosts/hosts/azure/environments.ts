import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostEnvironment } from '../../host-deployment.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type AzureApi, Identity, parseLogin, parseTime, Time } from './client.ts'
import { formatRunId, parseRunId } from './jobs.ts'
import type { Build } from './runs.ts'

export function createEnvironmentReads(api: AzureApi): Pick<HostReader, 'readEnvironment'> {
  return {
    async readEnvironment(repository, name) {
      const project = await api.fetchProject(repository)
      const environment = project && (await fetchEnvironment(api, project, { name }))
      if (!environment) return null
      const path = encodePath`/${project}/_apis/pipelines/checks/configurations`
      const query = { resourceType: 'environment', resourceId: environment.id, $expand: 'settings' }
      const list = await api.fetchList({ path, query, preview: 1 })
      if (list === null) return null
      const checks = api.parseItems(list.values, parseCheck)
      return parseRules(environment, checks, await fetchOwnChecks(api, project, checks))
    },
  }
}

/** An environment by id or by name; null if it does not exist. */
export async function fetchEnvironment(
  api: AzureApi,
  project: string,
  environment: number | { name: string },
): Promise<Environment | null> {
  const path = encodePath`/${project}/_apis/distributedtask/environments`
  if (typeof environment === 'number') {
    const found = await api.fetch({ path: path + encodePath`/${environment}` })
    return found === null ? null : parseEnvironment(found)
  }
  const { name } = environment
  const found = await api.fetchAll({ path, query: { name } }, parseEnvironment)
  // Names are compared without case, and the filter also finds longer names.
  return found.find((one) => one.name.toLowerCase() === name.toLowerCase()) ?? null
}

const ServiceConnection = Type.Object({ url: Maybe(Text) })

/** The checks that call the address of our connection. */
async function fetchOwnChecks(api: AzureApi, project: string, checks: Check[]): Promise<Set<Check>> {
  const { connectionId } = api.options
  const own = new Set<Check>()
  for (const check of checks) {
    const id = parseConnectionId(check)
    const found = id ? await api.fetch({ path: encodePath`/${project}/_apis/serviceendpoint/endpoints/${id}` }) : null
    const url = found === null ? null : readAs(ServiceConnection, found).url
    const address = [url ?? '', ...parseCheckPaths(check)].join('')
    if (connectionId !== null && address.includes(`/webhooks/azure/${connectionId}`)) own.add(check)
  }
  return own
}

const PAGE_RECORDS = 100
const PAGES_MAX = 10

/** What a run has deployed to an environment. Records are listed newest first. */
export async function fetchRecords(
  api: AzureApi,
  project: string,
  build: Build,
  { id }: Environment,
): Promise<DeploymentRecord[]> {
  const path = encodePath`/${project}/_apis/distributedtask/environments/${id}/environmentdeploymentrecords`
  const queuedAt = parseTime(build.queueTime) ?? new Date(0)
  const found: DeploymentRecord[] = []
  for (let pages = 0, next: string | null | undefined; pages < PAGES_MAX && next !== null; pages += 1) {
    const page = await api.fetchPage({ path, query: { top: PAGE_RECORDS } }, next)
    const records = page === null ? [] : api.parseItems(page.values, parseDeploymentRecord)
    found.push(...records.filter(({ owner }) => owner?.id === build.id))
    const oldest = parseTime(records.at(-1)?.queueTime)
    next = oldest !== null && oldest < queuedAt ? null : (page?.next ?? null)
  }
  return found
}

/** A job that deploys to an environment. */
export const DeploymentRecord = Type.Object({
  id: Id,
  stageName: Maybe(Text),
  stageAttempt: Maybe(Id),
  jobName: Maybe(Text),
  owner: Maybe(Type.Object({ id: Id })),
  result: Maybe(Text),
  queueTime: Maybe(Time),
  startTime: Maybe(Time),
  finishTime: Maybe(Time),
})
export type DeploymentRecord = Static<typeof DeploymentRecord>

export function parseDeploymentRecord(value: unknown): DeploymentRecord {
  return readAs(DeploymentRecord, value)
}

export function getRecordAttempt({ stageAttempt }: DeploymentRecord): number {
  return stageAttempt || 1
}

/**
 * What a deployment goes to: the id of an environment; its name, where a check states only that;
 * or the name of a stage, where an event names only that.
 */
export type DeploymentPlace = number | { name: string } | { stage: string }

/**
 * A deployment is what one attempt of a stage deploys to one environment. Azure DevOps has records
 * of it, but only once the checks of the environment are passed, so they cannot name it. An attempt
 * of null is the newest.
 */
export type DeploymentName = { project: string; build: number; environment: DeploymentPlace; attempt: number | null }

const DEPLOYMENT_ID = /^(.+?)_(?:([1-9]\d{0,9})|(name|stage):([^_]*))_(0|[1-9]\d{0,5})$/s

export function formatDeploymentId({ environment, attempt, ...build }: DeploymentName): string {
  return `${formatRunId(build)}_${formatPlace(environment)}_${attempt ?? 0}`
}

function formatPlace(place: DeploymentPlace): string {
  if (typeof place === 'number') return String(place)
  return 'name' in place ? `name:${encodeName(place.name)}` : `stage:${encodeName(place.stage)}`
}

function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll('_', '%5F')
}

/** Null for a text that is no id of a deployment. */
export function parseDeploymentId(id: string): DeploymentName | null {
  const [, run = '', environmentId, kind, text = '', attempt] = DEPLOYMENT_ID.exec(id) ?? []
  const build = parseRunId(run)
  if (build === null) return null
  const named = decodeURIComponent(text)
  const place = kind === 'stage' ? { stage: named } : { name: named }
  const environment = environmentId === undefined ? place : Number(environmentId)
  return { ...build, environment, attempt: Number(attempt) || null }
}

export const Environment = Type.Object({ id: Id, name: Text })
export type Environment = Static<typeof Environment>

export function parseEnvironment(value: unknown): Environment {
  return readAs(Environment, value)
}

const Check = Type.Object({
  id: Id,
  type: Maybe(Type.Object({ name: Maybe(Text) })),
  isDisabled: Maybe(Type.Boolean()),
  settings: Maybe(
    Type.Object({
      displayName: Maybe(Text),
      definitionRef: Maybe(Type.Object({ id: Maybe(Text), name: Maybe(Text) })),
      inputs: Maybe(Type.Record(Type.String(), Type.Unknown())),
      approvers: Maybe(Type.Array(Identity)),
    }),
  ),
})
type Check = Static<typeof Check>

export function parseCheck(value: unknown): Check | null {
  const check = readAs(Check, value)
  return check.isDisabled ? null : check
}

/** The service connection through which a check calls an address; null if it calls none. */
function parseConnectionId({ settings }: Check): string | null {
  const { connectedServiceName, serviceConnection } = settings?.inputs ?? {}
  return [connectedServiceName, serviceConnection].find((id) => typeof id === 'string' && id !== '') as string | null
}

/** What a check adds to the address of its service connection, or its whole address. */
function parseCheckPaths({ settings }: Check): string[] {
  const { urlSuffix, function: address } = settings?.inputs ?? {}
  return [urlSuffix, address].filter((path) => typeof path === 'string')
}

/** The checks that Azure DevOps offers itself, by the names of their tasks. */
const OWN_CHECKS: Readonly<Record<string, string>> = {
  evaluatebranchprotection: 'branch_policy',
  evaluatebusinesshours: 'wait_timer',
  delay: 'wait_timer',
}
/** Checks that hold nobody up: one run at a time, permissions of pipelines. */
const NO_RULES = ['exclusivelock', 'authorization']
const CUSTOM_RULE = 'customRule'

function parseRuleType({ type, settings }: Check): string | null {
  const name = type?.name?.replaceAll(' ', '').toLowerCase() ?? ''
  if (name === 'approval') return 'required_reviewers'
  if (NO_RULES.includes(name)) return null
  return OWN_CHECKS[settings?.definitionRef?.name?.toLowerCase() ?? ''] ?? CUSTOM_RULE
}

/** `own`: the checks that call our address. */
export function parseRules({ name }: Environment, checks: Check[], own: ReadonlySet<Check>): HostEnvironment {
  const types = checks.map(parseRuleType)
  const approvers = checks.flatMap((check) =>
    parseRuleType(check) === 'required_reviewers' ? (check.settings?.approvers ?? []) : [],
  )
  const custom = checks.filter((_, index) => types[index] === CUSTOM_RULE)
  return {
    name,
    rule_types: [...new Set(types.filter((type) => type !== null))],
    ...parseReviewers(approvers),
    custom_rules: custom.map((check) => ({
      app_id: String(check.id),
      slug: parseText(check.settings?.displayName) ?? parseText(check.settings?.definitionRef?.name) ?? 'check',
      is_own: own.has(check),
    })),
  }
}

type Reviewers = { reviewers: string[]; reviewer_teams: string[] }

/** Groups and teams are containers. */
export function parseReviewers(identities: Static<typeof Identity>[]): Reviewers {
  const namesOf = (isTeam: boolean) => [
    ...new Set(identities.flatMap((one) => ((one.isContainer ?? false) === isTeam ? (parseLogin(one) ?? []) : []))),
  ]
  return { reviewers: namesOf(false), reviewer_teams: namesOf(true) }
}
