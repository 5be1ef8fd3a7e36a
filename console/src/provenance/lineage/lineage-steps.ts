import { fromBase64 } from '@shiplock/verify/bytes'
import type { GraphEdge } from '../../graph/graph.ts'
import type { SignedStatement } from '../verify/verify-statement.ts'

/** More artifacts than these are one step. */
const ARTIFACTS_MAX = 6

type Kind = 'commit' | 'change' | 'run' | 'artifact' | 'gate' | 'override' | 'bypass' | 'deployment'

/** A step on the way of a commit to a deployment. */
export type Step = {
  id: string
  kind: Kind
  label: string
  detail?: string
  /** The status of a run or a deployment. */
  status?: string
  /** A change with deviations, or a gate that nobody approved. */
  needsAttention?: boolean
  /** Its page, below the organization. */
  page?: string
}

/** The way of a commit to a deployment: change, runs, artifacts, earlier environments, gates. */
export function lineageSteps(path: PromotionPath): { steps: Step[]; edges: GraphEdge[] } {
  const start = startOf(path)
  const runs = path.runs.map(runStep)
  const runOf = ({ run }: PromotedDeployment) => runs.filter(({ id }) => id === `run ${run?.id}`)
  const artifacts = artifactSteps(path)
  const earlier = path.earlier_deployments.map(deploymentStep)
  const gates = gateSteps(path.deployment)
  const end = deploymentStep(path.deployment)
  const built = firstOf(artifacts, runOf(path.deployment), [start])
  return {
    steps: [start, ...runs, ...artifacts, ...earlier, ...gates, end],
    edges: [
      ...between([start], runs),
      ...between(firstOf(runOf(path.deployment), [start]), artifacts),
      // One environment after the other, each with the run that deployed to it.
      ...path.earlier_deployments.flatMap((deployment, index) =>
        between(
          [...firstOf(runOf(deployment), [start]), ...earlier.slice(Math.max(index - 1, 0), index)],
          earlier.slice(index, index + 1),
        ),
      ),
      ...between([...built, ...earlier.slice(-1)], firstOf(gates, [end])),
      ...between(gates, [end]),
    ],
  }
}

function startOf({ change, commit }: PromotionPath): Step {
  const sha = commit.slice(0, 7)
  if (change === null) return { id: 'commit', kind: 'commit', label: sha, detail: 'Commit without a change' }
  const deviations = change.record?.deviations.length ?? 0
  const words = deviations === 0 ? 'no deviations' : `${deviations} ${deviations === 1 ? 'deviation' : 'deviations'}`
  return {
    id: 'change',
    kind: 'change',
    label: change.record?.pull_request?.title ?? `Change ${sha}`,
    detail: `${sha} · ${words}`,
    needsAttention: deviations > 0,
    page: `provenance/changes/${change.id}`,
  }
}

function runStep({ id, pipeline_name, attempts }: PromotionPath['runs'][number]): Step {
  const { number = 1, status = 'queued' } = attempts.at(-1) ?? {}
  const detail = number > 1 ? `Run, attempt ${number}` : 'Run'
  return { id: `run ${id}`, kind: 'run', label: pipeline_name, detail, status, page: `runs/${id}` }
}

function artifactSteps({ artifacts, artifacts_omitted }: PromotionPath): Step[] {
  const total = artifacts.length + artifacts_omitted
  const shown = artifacts.slice(0, total > ARTIFACTS_MAX ? ARTIFACTS_MAX - 1 : ARTIFACTS_MAX)
  const steps = shown.map(({ path, sha256 }): Step => {
    const label = path.split('/').at(-1) ?? path
    return { id: `artifact ${path}`, kind: 'artifact', label, detail: `Artifact · ${sha256.slice(0, 7)}` }
  })
  const rest = total - shown.length
  return rest === 0 ? steps : [...steps, { id: 'artifacts', kind: 'artifact', label: `${rest} more artifacts` }]
}

function gateSteps({ gates, approvals, override, bypass }: PromotedDeployment): Step[] {
  const people = approvals.filter(({ decision }) => decision === 'approved').map(({ principal }) => principal.name)
  const steps = gates.map(({ id, name, approved_at, approved_by }): Step => {
    const by = approved_by === 'policies' ? 'policies' : people.join(', ') || 'people'
    const detail = approved_at === null ? 'Gate · not approved' : `Gate · approved by ${by}`
    const page = `settings/gates/${id}`
    return { id: `gate ${id}`, kind: 'gate', label: name, detail, needsAttention: approved_at === null, page }
  })
  if (override) {
    const detail = `By ${override.by ?? 'somebody'}: ${override.reason}`
    steps.push({ id: 'override', kind: 'override', label: 'Compliance overridden', detail })
  }
  if (bypass) {
    const detail = `By ${bypass.actor ?? 'somebody'}`
    steps.push({ id: 'bypass', kind: 'bypass', label: 'Protection bypassed', detail })
  }
  return steps
}

function deploymentStep({ id, environment, status }: PromotedDeployment): Step {
  return {
    id: `deployment ${id}`,
    kind: 'deployment',
    label: environment,
    detail: 'Deployment',
    status,
    page: `deployments/${id}`,
  }
}

/** The first layer that has steps. */
function firstOf(...layers: Step[][]): Step[] {
  return layers.find((layer) => layer.length > 0) ?? []
}

function between(from: readonly Step[], to: readonly Step[]): GraphEdge[] {
  return from.flatMap((one) => to.map((other) => ({ from: one.id, to: other.id })))
}

// The parts of the predicates that the page shows (docs/provenance/promotion-path.v1.schema.json).

export type PromotedDeployment = {
  id: string
  environment: string
  status: string
  run: { id: string; attempt: number } | null
  gates: { id: string; name: string; approved_at: string | null; approved_by: 'policies' | 'principals' | null }[]
  approvals: { decision: 'approved' | 'rejected'; principal: { name: string }; reason: string; at: string }[]
  override: { by: string | null; reason: string; at: string } | null
  bypass: { actor: string | null; at: string } | null
  created_at: string
  deployed_at: string | null
}

type PromotedRun = { id: string; pipeline_name: string; attempts: { number: number; status: string }[] }

export type PromotionPath = {
  repository: { full_name: string }
  commit: string
  change: { id: string; record: { pull_request: { title: string } | null; deviations: string[] } | null } | null
  runs: PromotedRun[]
  artifacts: { path: string; sha256: string }[]
  artifacts_omitted: number
  earlier_deployments: PromotedDeployment[]
  deployment: PromotedDeployment
}

/** The result of the server's own verification (SLSA verification summary). */
export type VerificationSummary = { verificationResult: 'PASSED' | 'FAILED'; verifiedLevels: string[] }

/** What a statement says. Does not verify it. */
export function predicateOf<Predicate>({ envelope }: SignedStatement): Predicate {
  const bytes = fromBase64(envelope.payload) ?? new Uint8Array()
  return JSON.parse(new TextDecoder().decode(bytes)).predicate
}
