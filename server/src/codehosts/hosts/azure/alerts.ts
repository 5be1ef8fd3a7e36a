import { type Static, Type } from 'typebox'
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostAlert, HostAlertType } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { NO_ACCESS } from '../../kit/pages.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type AzureApi, Identity, LISTED, parseAccount, parseTime, Time } from './client.ts'

const PAGE_ITEMS = 100
/** How long ago the alerts of a page were changed. The last page has all. */
const WINDOWS_MS = [2 * HOUR_MS, DAY_MS, 7 * DAY_MS, null]

/**
 * Secrets of which Advanced Security is not sure are listed only where both levels are named. What
 * is found on other branches is not the state of the repository.
 */
const CRITERIA = { 'criteria.confidenceLevels': 'high,other', 'criteria.onlyDefaultBranch': true }

/**
 * Alerts have no time of their last change, but those that were changed since a time can be listed.
 * Each page has those of a longer time. An alert that only a longer time finds was not changed in
 * the shorter one, which gives the time that its version is compared by.
 */
export function createAlertReads(api: AzureApi): Pick<HostReader, 'listAlerts' | 'readAlert'> {
  return {
    async listAlerts(repository, type, { next }) {
      const path = await fetchAlertsPath(api, repository)
      const cursor = next ? readAs(Cursor, JSON.parse(next)) : { window: 0, from: api.now().toISOString() }
      if (path === null) return NO_ACCESS
      for (let { window } = cursor; ; window += 1) {
        const items = await fetchWindow(api, { repository, type, path }, { ...cursor, window })
        if (items === null) return NO_ACCESS
        const following = window + 1 < WINDOWS_MS.length ? JSON.stringify({ ...cursor, window: window + 1 }) : null
        if (items.length > 0 || following === null) return { items, next: following, etag: LISTED }
      }
    },

    async readAlert(repository, { type, number }) {
      const path = await fetchAlertsPath(api, repository)
      const fetchedAt = api.now()
      // A single alert does not say whether the default branch has it.
      const query = { ...CRITERIA, 'criteria.alertIds': number }
      const list = path && (await api.fetchList({ path, query, security: true }))
      const [found] = list ? api.parseItems(list.values, (alert) => parseAlert(alert, repository, fetchedAt)) : []
      return found?.type === type ? found : null
    },
  }
}

const Cursor = Type.Object({
  window: Type.Integer({ minimum: 0, maximum: WINDOWS_MS.length - 1 }),
  from: Text,
})
type Cursor = { window: number; from: string }

async function fetchAlertsPath(api: AzureApi, repository: HostRepository): Promise<string | null> {
  const project = await api.fetchProject(repository)
  return project && encodePath`/${project}/_apis/alert/repositories/${repository.id}/alerts`
}

type AlertList = { repository: HostRepository; type: HostAlertType; path: string }

/** Null where Advanced Security is not enabled, or its alerts may not be read. */
async function fetchWindow(
  api: AzureApi,
  { repository, type, path }: AlertList,
  { window, from }: Cursor,
): Promise<HostAlert[] | null> {
  const ago = (age: number | null | undefined) => (age ? new Date(Date.parse(from) - age) : undefined)
  const query = {
    top: PAGE_ITEMS,
    ...CRITERIA,
    'criteria.alertType': ALERT_WORDS[type],
    'criteria.modifiedSince': ago(WINDOWS_MS[window])?.toISOString(),
  }
  const unchangedSince = window === 0 ? new Date(from) : (ago(WINDOWS_MS[window - 1]) as Date)
  const list = await api.fetchList({ path, query, security: true })
  return list && api.parseItems(list.values, (alert) => parseAlert(alert, repository, unchangedSince))
}

const Rule = Type.Object({
  opaqueId: Maybe(Text),
  friendlyName: Maybe(Text),
  description: Maybe(Text),
  helpMessage: Maybe(Text),
  tags: Maybe(Type.Array(Text)),
})

const Location = Type.Object({
  filePath: Maybe(Text),
  region: Maybe(
    Type.Object({
      lineStart: Maybe(Type.Integer()),
      lineEnd: Maybe(Type.Integer()),
      columnStart: Maybe(Type.Integer()),
      columnEnd: Maybe(Type.Integer()),
    }),
  ),
  versionControl: Maybe(Type.Object({ commitHash: Maybe(Text) })),
})

const Alert = Type.Object({
  alertId: Id,
  alertType: Text,
  state: Maybe(Text),
  severity: Maybe(Text),
  title: Maybe(Text),
  firstSeenDate: Maybe(Time),
  introducedDate: Maybe(Time),
  lastSeenDate: Maybe(Time),
  fixedDate: Maybe(Time),
  gitRef: Maybe(Text),
  tools: Maybe(
    Type.Array(Type.Object({ name: Maybe(Text), toolVersion: Maybe(Text), rules: Maybe(Type.Array(Rule)) })),
  ),
  physicalLocations: Maybe(Type.Array(Location)),
  dismissal: Maybe(
    Type.Object({
      dismissalType: Maybe(Text),
      message: Maybe(Text),
      requestedOn: Maybe(Time),
      stateChangedByIdentity: Maybe(Identity),
    }),
  ),
  validityDetails: Maybe(Type.Object({ validityStatus: Maybe(Text) })),
})
type AlertObject = Static<typeof Alert>

/** How Advanced Security calls the three types of alerts. */
const ALERT_WORDS: Readonly<Record<HostAlertType, string>> = {
  code_scanning: 'code',
  dependabot: 'dependency',
  secret_scanning: 'secret',
}

/** Null for a type that we do not use. Webhooks may write it with a capital. */
export function parseAlertType(word: string): HostAlertType | null {
  const found = Object.entries(ALERT_WORDS).find(([, own]) => own === word.toLowerCase())
  return (found?.[0] as HostAlertType | undefined) ?? null
}

/**
 * Null for an alert of another type. Azure DevOps does not say when an alert was last changed:
 * `unchangedSince` is a time after which it certainly was not.
 */
export function parseAlert(value: unknown, repository: HostRepository, unchangedSince: Date): HostAlert | null {
  const alert = readAs(Alert, value)
  const type = parseAlertType(alert.alertType)
  if (type === null) return null
  const tool = alert.tools?.[0]
  const rule = tool?.rules?.[0]
  const title = parseText(alert.title) ?? parseText(rule?.friendlyName) ?? 'Advanced Security alert'
  const isDependency = type === 'dependabot'
  const cwes = (rule?.tags ?? []).flatMap((tag) => CWE_TAG.exec(tag)?.[1] ?? [])
  return {
    repository,
    type,
    number: alert.alertId,
    ...parseState(alert, type),
    severity: parseSeverity(alert, type),
    title,
    description: parseText(rule?.description) ?? parseText(rule?.helpMessage),
    url: repository.html_url && `${repository.html_url}/alerts/${alert.alertId}`,
    references: [],
    rule_id: parseText(rule?.opaqueId) ?? parseText(rule?.friendlyName),
    tool_name: parseText(tool?.name),
    tool_version: parseText(tool?.toolVersion),
    cwes: [...new Set(cwes.map((number) => `CWE-${number}`))],
    // The documented fields do not name the package and its versions.
    package: null,
    cve_id: isDependency ? parseAdvisoryId(CVE, alert, rule) : null,
    ghsa_id: isDependency ? parseAdvisoryId(GHSA, alert, rule) : null,
    advisory_url: null,
    cvss: null,
    ...parseLocation(alert),
    git_ref: parseText(alert.gitRef),
    // Only a part of the value is shown, so it cannot be compared with that of other alerts.
    secret: type === 'secret_scanning' ? parseSecret(alert, rule, title) : null,
    detected_at: parseTime(alert.firstSeenDate) ?? parseTime(alert.introducedDate) ?? unchangedSince,
    updated_at: unchangedSince,
  }
}

/** A secret that was dismissed as fixed is revoked and does no more harm. */
function parseState(
  { state, fixedDate, dismissal }: AlertObject,
  type: HostAlertType,
): Pick<HostAlert, 'status' | 'fixed_at' | 'dismissal'> {
  const isRevoked = type === 'secret_scanning' && dismissal?.dismissalType === 'fixed'
  if (state === 'fixed' || (state === 'dismissed' && isRevoked))
    return { status: 'fixed', fixed_at: parseTime(fixedDate), dismissal: null }
  if (state !== 'dismissed' && state !== 'autoDismissed') return { status: 'open', fixed_at: null, dismissal: null }
  const reason = state === 'autoDismissed' ? state : parseText(dismissal?.dismissalType)
  const by = parseAccount(dismissal?.stateChangedByIdentity)
  return {
    status: 'dismissed',
    fixed_at: null,
    dismissal: { by, reason, comment: parseText(dismissal?.message), at: parseTime(dismissal?.requestedOn) },
  }
}

const SEVERITIES: Readonly<Record<string, HostAlert['severity']>> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  low: 'low',
  // Levels of SARIF, for rules without a security severity.
  error: 'high',
  warning: 'medium',
  note: 'low',
}

function parseSeverity({ severity, validityDetails }: AlertObject, type: HostAlertType): HostAlert['severity'] {
  if (type === 'secret_scanning') return validityDetails?.validityStatus === 'inactive' ? 'low' : 'critical'
  return SEVERITIES[severity ?? ''] ?? 'medium'
}

const CWE_TAG = /(?:^|\/)cwe-0*([1-9]\d{0,5})$/i

const CVE = /\bCVE-\d{4}-\d{4,}\b/i
const GHSA = /\bGHSA(?:-[0-9a-z]{4}){3}\b/i

function parseAdvisoryId(
  pattern: RegExp,
  { title }: AlertObject,
  rule: Static<typeof Rule> | undefined,
): string | null {
  const texts = [rule?.opaqueId, rule?.friendlyName, title]
  const found = texts.flatMap((text) => pattern.exec(text ?? '')?.[0] ?? [])[0]
  return found === undefined ? null : pattern === CVE ? found.toUpperCase() : found
}

/** Lines and columns count from 1; 0 stands for none. Paths may begin with a slash. */
function parseLocation({ physicalLocations }: AlertObject): Pick<HostAlert, 'location' | 'commit_sha'> {
  const [place] = physicalLocations ?? []
  const path = parseText(place?.filePath)?.replace(/^\//, '')
  const commitSha = parseText(place?.versionControl?.commitHash)
  if (!place || !path) return { location: null, commit_sha: commitSha }
  const { lineStart, lineEnd, columnStart, columnEnd } = place.region ?? {}
  const location = {
    path,
    start_line: lineStart || null,
    end_line: lineEnd || null,
    start_column: columnStart || null,
    end_column: columnEnd || null,
  }
  return { location, commit_sha: commitSha }
}

function parseSecret(
  { validityDetails }: AlertObject,
  rule: Static<typeof Rule> | undefined,
  title: string,
): HostAlert['secret'] {
  const validity = validityDetails?.validityStatus
  return {
    type: parseText(rule?.opaqueId) ?? parseText(rule?.friendlyName) ?? title,
    display_name: parseText(rule?.friendlyName),
    value: null,
    validity: validity === 'none' ? null : parseText(validity),
  }
}
