import { lastAttempt } from '../hosts/stories/jobs.ts'
import type { Alert, BranchRules, Job, Repository, Run } from '../hosts/types.ts'
import { identity, repositoryUrl } from './objects.ts'
import { checkRunId } from './pipeline-objects.ts'
import { type AzureState, guidOf, type ProjectEnvironment } from './state.ts'

/** Approvals, our own check through its service connection, and branch control. */
export function environmentChecks(state: AzureState, { id, name, of }: ProjectEnvironment, connection: string | null) {
  const resource = { type: 'environment', id: String(id), name }
  const all = of.map(({ environment }) => environment)
  const approvers = all.flatMap(({ reviewers }) =>
    reviewers.map((one) =>
      one.type === 'person'
        ? identity(state, one.account)
        : { displayName: one.name, id: one.uuid, uniqueName: `vstfs:///scope\\${one.uuid}`, isContainer: true },
    ),
  )
  const approval = {
    approvers,
    executionOrder: 'anyOrder',
    minRequiredApprovers: approvers.length,
    blockedApprovers: [],
  }
  return [
    ...(approvers.length > 0 ? [check(1, 'Approval', resource, approval)] : []),
    ...(all.some(({ ours }) => ours) ? [check(2, 'Task Check', resource, ownCheck(connection))] : []),
    ...(all.some(({ branches }) => branches !== null) ? [check(3, 'Task Check', resource, branchControl())] : []),
    check(4, 'ExclusiveLock', resource, {}),
  ]
}

function check(kind: number, name: string, resource: { id: string }, settings: object) {
  const id = Number(resource.id) * 10 + kind
  return { id, type: { id: guidOf(name), name }, resource, settings, timeout: 43_200, isDisabled: false }
}

function ownCheck(connection: string | null) {
  return {
    displayName: 'Shiplock',
    definitionRef: { id: '9c3e8943-130d-4c78-ac63-8af81df62dfb', name: 'InvokeRESTAPI', version: '1.220.0' },
    inputs: {
      connectedServiceNameSelector: 'connectedServiceName',
      connectedServiceName: connection,
      method: 'POST',
      waitForCompletion: 'true',
    },
    retryInterval: 0,
  }
}

function branchControl() {
  return {
    displayName: 'Branch control',
    definitionRef: { id: '86b05a0c-73e6-4f7d-b3cf-e38f3b39a75b', name: 'evaluatebranchProtection', version: '0.0.1' },
    inputs: { allowedBranches: 'refs/heads/main' },
    retryInterval: 5,
  }
}

/** What reviewers have to answer, or answered, for a job. */
export function approval(state: AzureState, run: Run, job: Job) {
  const { deployment } = job
  if (deployment === null) return null
  const answers = run.approvals.filter((one) => one.deployment === deployment)
  const people = deployment.environment.reviewers.flatMap((one) => (one.type === 'person' ? one.account : []))
  const pending = people.filter((person) => !answers.some(({ user }) => user === person))
  const isOpen = deployment.gates.get('reviewers') === 'pending'
  return {
    id: checkRunId(run, job, 'reviewers'),
    status: deployment.gates.get('reviewers') ?? 'skipped',
    createdOn: deployment.created_at.toISOString(),
    lastModifiedOn: (answers.at(-1)?.at ?? deployment.created_at).toISOString(),
    executionOrder: 'anyOrder',
    minRequiredApprovers: 1,
    blockedApprovers: [],
    steps: [
      ...answers.map(({ user, state: answer, comment, at }) => ({
        assignedApprover: identity(state, user),
        actualApprover: identity(state, user),
        status: answer,
        comment,
        lastModifiedOn: at.toISOString(),
      })),
      ...pending.map((person) => ({
        assignedApprover: identity(state, person),
        status: isOpen ? 'pending' : 'skipped',
        lastModifiedOn: deployment.created_at.toISOString(),
      })),
    ],
  }
}

/** The jobs of all attempts of a run that deploy, each once. */
export function deployingJobs(run: Run): Job[] {
  const all = run.attempts.flatMap(({ jobs }) => jobs).filter(({ deployment }) => deployment !== null)
  return [
    ...new Set(all.length === 0 ? [] : [...all, ...lastAttempt(run).jobs.filter((job) => job.deployment !== null)]),
  ]
}

const MINIMUM_REVIEWERS = 'fa4e907d-c16b-4a4c-9dfa-4906e5d171dd'
const STATUS = 'cbdc66da-9728-4af8-aada-9a5a32e4a226'
const COMMENTS = 'c6a1889d-b943-4856-b76f-9e46bb6b0df2'

/** `genre/name` of a required status. */
export function policies({ uuid }: Repository, branch: string, rules: BranchRules) {
  const scope = [{ repositoryId: uuid, refName: `refs/heads/${branch}`, matchKind: 'exact' }]
  const of = (id: string, settings: object) => ({
    id: 1,
    isEnabled: true,
    isBlocking: true,
    isDeleted: false,
    type: { id, displayName: 'Policy' },
    settings: { ...settings, scope },
  })
  const statuses = (rules.checks ?? []).map((name) => {
    const at = name.lastIndexOf('/')
    return of(
      STATUS,
      at < 0 ? { statusName: name } : { statusGenre: name.slice(0, at), statusName: name.slice(at + 1) },
    )
  })
  const reviewers =
    rules.approvals === undefined ? [] : [of(MINIMUM_REVIEWERS, { minimumApproverCount: rules.approvals })]
  return [...reviewers, ...statuses, ...(rules.blocksForcePushes ? [of(COMMENTS, {})] : [])]
}

const TYPES = { code_scanning: 'code', dependabot: 'dependency', secret_scanning: 'secret' } as const
const STATES = { open: 'active', fixed: 'fixed', dismissed: 'dismissed' } as const

/** Reasons of stories in the words of Advanced Security. */
export const DISMISSALS: Readonly<Record<string, string>> = {
  false_positive: 'falsePositive',
  inaccurate: 'falsePositive',
  not_used: 'notDistributed',
  revoked: 'fixed',
}

export function alert(state: AzureState, one: Alert) {
  const { details, type, repository: of, dismissal } = one
  const isCode = type === 'code_scanning'
  const isSecret = type === 'secret_scanning'
  const ruleId = isCode ? details.rule : isSecret ? details.secretType : (details.cve ?? details.ghsa)
  const names = {
    code_scanning: details.title,
    dependabot: `${details.cve} - ${details.package}`,
    secret_scanning: details.secretName,
  }
  const tags = isCode ? details.cwes.map((cwe) => `external/cwe/${cwe.toLowerCase()}`) : []
  const rule = {
    opaqueId: ruleId,
    friendlyName: isSecret ? details.secretName : ruleId,
    description: details.description,
    tags,
  }
  const tool = isCode
    ? details.tool.name
    : isSecret
      ? 'Advanced Security Secret Scanning'
      : 'Advanced Security Dependency Scanning'
  return {
    alertId: one.id,
    alertType: TYPES[type],
    severity: details.severity,
    state: STATES[one.state],
    title: names[type],
    tools: [
      { name: tool, ...(details.tool.version === null ? {} : { toolVersion: details.tool.version }), rules: [rule] },
    ],
    gitRef: details.ref,
    repositoryUrl: repositoryUrl(state, of),
    firstSeenDate: one.created_at.toISOString(),
    lastSeenDate: one.created_at.toISOString(),
    introducedDate: one.created_at.toISOString(),
    ...(one.fixed_at === null ? {} : { fixedDate: one.fixed_at.toISOString() }),
    physicalLocations: [
      {
        filePath: details.path,
        region: { lineStart: details.line, lineEnd: details.line, columnStart: 1, columnEnd: 10 },
        versionControl: { commitHash: details.sha, itemUrl: '' },
      },
    ],
    logicalLocations:
      type === 'dependabot' ? [{ fullyQualifiedName: details.package, kind: 'vulnerableDependency' }] : [],
    ...(isSecret
      ? { truncatedSecret: `${details.secret.slice(0, 4)}***`, validityDetails: { validityStatus: details.validity } }
      : {}),
    ...(dismissal === null
      ? {}
      : {
          dismissal: {
            dismissalId: 1,
            dismissalType: DISMISSALS[dismissal.reason] ?? 'acceptedRisk',
            ...(dismissal.comment === null ? {} : { message: dismissal.comment }),
            stateChangedByIdentity: identity(state, dismissal.by),
          },
        }),
  }
}
