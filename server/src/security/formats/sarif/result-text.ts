import { getMember, toArray, toText } from '../../../platform/json/read-value.ts'
import { DESCRIPTION_MAX, PATH_MAX, truncateText } from '../../vocabulary/bounded-text.ts'
import { formatWithLocations } from '../../vocabulary/message-marks.ts'
import type { ResultLocation } from './location.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'

/** A placeholder like `{0}`, or a doubled brace (§3.11.5). */
const PLACEHOLDER = /\{\{|\}\}|\{(\d{1,4})\}/g

/** A link to one of the result's own locations (§3.11.6), which works only within the report. */
const OWN_LINK = /(?<![\w\])])\[([^[\]]{1,300})\]\(\d{1,9}\)/g

/** The plain text of a result's message (§3.11); null if the report does not contain it. */
export function formatMessage(run: SarifRun, message: unknown, rule: SarifRule | undefined): string | null {
  const text = textWithLinks(run, message, rule)
  return text?.includes('](') ? text.replace(OWN_LINK, '$1') : text
}

function textWithLinks(run: SarifRun, message: unknown, rule: SarifRule | undefined): string | null {
  const args = toArray(getMember(message, 'arguments'))
  // §3.11 requires an object, but some tools write a plain text.
  const own = toText(getMember(message, 'text')) ?? toText(getMember(message, 'markdown')) ?? toText(message)
  // Braces in a message without arguments are source code, not placeholders.
  if (own !== null) return args.length === 0 ? own : filledIn(own, args)
  const id = toText(getMember(message, 'id'))
  const template =
    id === null ? undefined : (rule?.messages.get(id) ?? (rule?.component ?? run.driver).messages.get(id))
  return template === undefined ? null : filledIn(template, args)
}

/**
 * Replaces the placeholders. Stops at the maximal length, because a text can repeat its arguments.
 */
function filledIn(template: string, args: unknown[]): string {
  let text = ''
  let from = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    text += template.slice(from, match.index) + replacement(match, args)
    from = match.index + match[0].length
    if (text.length > DESCRIPTION_MAX) return text.slice(0, DESCRIPTION_MAX)
  }
  return text + template.slice(from)
}

function replacement(match: RegExpExecArray, args: unknown[]): string {
  if (match[1] === undefined) return match[0].charAt(0)
  const argument = args[Number(match[1])]
  return typeof argument === 'string' ? argument.slice(0, DESCRIPTION_MAX) : match[0]
}

/**
 * The number of locations beside the first that a description lists. A result may have millions.
 */
export const OTHER_LOCATIONS_MAX = 10

/**
 * A message with the locations after the first one. `total` is the number of locations in the
 * report.
 */
export function formatDescription(message: string, locations: ResultLocation[], total: number): string {
  const names = locations.slice(1).map((location) => {
    const line = location.startLine === null ? '' : `:${location.startLine}`
    return `${location.path ?? location.address ?? location.logicalName ?? 'unknown'}${line}`
  })
  const more = total > 1 + OTHER_LOCATIONS_MAX ? [`and ${total - 1 - OTHER_LOCATIONS_MAX} more`] : []
  return formatWithLocations(message, [...names, ...more])
}

/**
 * What tools write instead of the flagged code: Gitleaks with `--redact`, Semgrep without a login.
 */
const WITHHELD = new Set(['REDACTED', 'requireslogin'])

/** A secret that is partly replaced. Different secrets may look the same. */
const MASKED = /\*{3}|REDACTED|(?:\.{3}|…)$/

/** The flagged code without white space, by which it is recognized; null if the report hides it. */
export function normalizeSnippet(snippet: string | null, isSecret: boolean): string | null {
  const text = snippet?.replace(/\s+/g, '') ?? ''
  const isShown = text !== '' && !WITHHELD.has(text) && !(isSecret && MASKED.test(text))
  return isShown ? text : null
}

/** Whether a text is only the beginning of a private key, which is the same for many keys. */
export function isCutKey(text: string): boolean {
  return text.startsWith('-----BEGIN') && !text.includes('-----END')
}

/** What a result says about the resource that it flags. */
type ResourceTexts = { logicalName: string | null; snippet: string | null; message: string }

/**
 * The name of the flagged resource: `aws_s3_bucket.logs` in Terraform, `Deployment.web` in
 * Kubernetes. Few tools name it, so it is also read from the declaration in the flagged text and
 * from messages.
 */
export function findResourceName({ logicalName, snippet, message }: ResourceTexts): string | null {
  const declared = logicalName ?? declaredResource(snippet?.slice(0, TEXT_READ_MAX) ?? '')
  return declared ?? truncateText(mentionedResource(message.slice(0, TEXT_READ_MAX)), PATH_MAX)
}

const TEXT_READ_MAX = 4000

/** `resource "aws_s3_bucket" "logs" {` and `module "vpc" {` */
const TERRAFORM = /^[ \t]*(?:(resource|data)\s+"?([\w-]+)"?|(module|provider|variable|output))\s+"?([\w-]+)"?\s*\{/m
const KUBERNETES_KIND = /^kind:\s*["']?([A-Za-z]+)/m
/** The first member of `metadata` tells how far its members are indented. */
const KUBERNETES_NAME = /^metadata:[ \t]*\n(?=([ \t]+))(?:\1.*\n)*?\1name:[ \t]*["']?([\w.{}-]+)/m
/** `  Bucket:` above `    Type: AWS::S3::Bucket` */
const CLOUDFORMATION = /^\s*"?(\w+)"?:[^\S\n]*(?:\{[^\S\n]*)?\n(?:.*\n){0,3}?[^\S\n]*"?Type"?:\s*["']?(AWS::[\w:]+)/

function declaredResource(text: string): string | null {
  const [, block, type, keyword, name] = TERRAFORM.exec(text) ?? []
  if (name !== undefined) return block === 'data' ? `data.${type}.${name}` : `${type ?? keyword}.${name}`
  const [kind, object] = [KUBERNETES_KIND.exec(text)?.[1], KUBERNETES_NAME.exec(text)?.[2]]
  if (kind !== undefined && object !== undefined) return `${kind}.${object}`
  const [, logicalId, resourceType] = CLOUDFORMATION.exec(text) ?? []
  return logicalId === undefined ? null : `${resourceType}.${logicalId}`
}

/** KICS: `aws_s3_bucket[logs].acl is …`, `metadata.name={{web}}.spec …` */
const KICS_TERRAFORM = /\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\[\{*([\w-]+)\}*\]/
const KICS_KUBERNETES = /\bmetadata\.name=\{\{([^{}\s]+)\}\}/
/** Trivy: `Container 'app' of Deployment 'web' should …` */
const TRIVY_KUBERNETES =
  /\b(CronJob|DaemonSet|Deployment|Job|Pod|ReplicaSet|ReplicationController|StatefulSet|Service|Role|ClusterRole|ConfigMap) ['"]([\w.-]+)['"]/
/** KubeLinter: `(object: default/web apps/v1, Kind=Deployment)` */
const KUBE_LINTER = /\bobject: [^/\s][^/]*\/([\w.-]+) \S+, Kind=(\w+)/

function mentionedResource(message: string): string | null {
  const [, type, name] = KICS_TERRAFORM.exec(message) ?? []
  if (name !== undefined) return `${type}.${name}`
  const [, kind, object] = TRIVY_KUBERNETES.exec(message) ?? []
  if (object !== undefined) return `${kind}.${object}`
  const [, linted, lintedKind] = KUBE_LINTER.exec(message) ?? []
  if (linted !== undefined) return `${lintedKind}.${linted}`
  return KICS_KUBERNETES.exec(message)?.[1] ?? null
}
