import { boundedText, PATH_MAX } from '../../vocabulary/bounded-text.ts'

/** What a result says about the resource that it flags. */
type ResourceTexts = { logicalName: string | null; snippet: string | null; message: string }

/**
 * The name of the flagged resource: `aws_s3_bucket.logs` in Terraform, `Deployment.web` in
 * Kubernetes. Few tools name it, so it is also read from the declaration in the flagged text and
 * from messages.
 */
export function resourceNameOf({ logicalName, snippet, message }: ResourceTexts): string | null {
  const declared = logicalName ?? declaredResource(snippet?.slice(0, TEXT_READ_MAX) ?? '')
  return declared ?? boundedText(mentionedResource(message.slice(0, TEXT_READ_MAX)), PATH_MAX)
}

const TEXT_READ_MAX = 4000

/** `resource "aws_s3_bucket" "logs" {` and `module "vpc" {` */
const TERRAFORM = /^\s*(?:(resource|data)\s+"?([\w-]+)"?|(module|provider|variable|output))\s+"?([\w-]+)"?\s*\{/m
const KUBERNETES_KIND = /^kind:\s*["']?([A-Za-z]+)/m
/** The first member of `metadata` tells how far its members are indented. */
const KUBERNETES_NAME = /^metadata:[ \t]*\n(?=([ \t]+))(?:\1.*\n)*?\1name:[ \t]*["']?([\w.{}-]+)/m
/** `  Bucket:` above `    Type: AWS::S3::Bucket` */
const CLOUDFORMATION = /^\s*"?(\w+)"?:\s*\{?\s*\n(?:.*\n){0,3}?\s*"?Type"?:\s*["']?(AWS::[\w:]+)/

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
