import {
  IconGitCommit,
  IconGitMerge,
  IconLockOpen2,
  IconPackage,
  IconShieldCheck,
  IconShieldExclamation,
} from '@tabler/icons-react'
import type { GraphEdge, GraphNode } from '../graph/graph.ts'
import { type Icon, statusLook, type Tone } from '../page/badges.tsx'
import { lineageSteps, type Step } from './lineage-steps.ts'
import type { PromotionPath } from './promotion-path.ts'

/** Steps that have no status of their own. */
const LOOKS: Record<Exclude<Step['kind'], 'run' | 'deployment'>, [tone: Tone, icon: Icon]> = {
  commit: ['neutral', IconGitCommit],
  change: ['success', IconGitMerge],
  artifact: ['neutral', IconPackage],
  gate: ['success', IconShieldCheck],
  override: ['failure', IconShieldExclamation],
  bypass: ['failure', IconLockOpen2],
}

/** The steps of a lineage as they are drawn. */
export function lineageGraph(org: string, path: PromotionPath): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const { steps, edges } = lineageSteps(path)
  return { nodes: steps.map((step) => nodeOf(org, step)), edges }
}

function nodeOf(org: string, step: Step): GraphNode {
  const { id, label, detail, page } = step
  const place = { id, label, ...(page !== undefined && { href: `/orgs/${org}/${page}` }) }
  if (step.kind === 'run' || step.kind === 'deployment') {
    const { label: word, tone, icon } = statusLook(step.status ?? 'queued')
    return { ...place, detail: `${detail} · ${word}`, tone, icon }
  }
  const [tone, icon] = LOOKS[step.kind]
  return { ...place, ...(detail !== undefined && { detail }), tone: step.needsAttention ? 'waiting' : tone, icon }
}
