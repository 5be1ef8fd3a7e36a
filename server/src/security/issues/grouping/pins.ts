/** A split or a merge of issues that a person made. Later ones have higher numbers. */
export type Edit = { no: number; action: 'split' | 'merge'; by: string; comment: string | null }

/**
 * What an edit states about a finding. Findings on one side belong together, and findings on
 * different sides are kept apart. A merge has the side 0 only. A split has the side 1 for the
 * findings that it moved to a new issue, and the side 0 for the others.
 */
export type Pin = { edit_no: number; finding_id: string; side: number }

/** All edits that concern some findings, oldest first, with their pins. */
export type Edits = { edits: readonly Edit[]; pins: readonly Pin[] }

/** Findings that edits keep together, and the clusters that a split keeps them apart from. */
export type Cluster = { findings: Set<string>; apart: Map<Cluster, Edit>; edit: Edit; side: number }

/**
 * Returns the cluster of each pinned finding, by its id. An edit contains all findings of the
 * issues that it changed, so for every two findings the latest edit that contains both counts.
 */
export function computeClusters({ edits, pins }: Edits): Map<string, Cluster> {
  const byFinding = new Map<string, Cluster>()
  const byEdit = Map.groupBy(pins, ({ edit_no }) => edit_no)
  for (const edit of edits) applyEdit(byFinding, edit, byEdit.get(edit.no) ?? [])
  return byFinding
}

function applyEdit(byFinding: Map<string, Cluster>, edit: Edit, pins: readonly Pin[]): void {
  const earlier = new Set<Cluster>()
  const made = new Map<number, Cluster>()
  for (const { finding_id, side } of pins) {
    const cluster = made.get(side) ?? { findings: new Set(), apart: new Map(), edit, side }
    made.set(side, cluster)
    const before = byFinding.get(finding_id)
    before?.findings.delete(finding_id)
    if (before !== undefined) earlier.add(before)
    cluster.findings.add(finding_id)
    byFinding.set(finding_id, cluster)
  }
  const clusters = [...made.values()]
  const others = [...earlier].flatMap(({ apart }) => [...apart]).filter(([{ findings }]) => findings.size > 0)
  const own = clusters.map((cluster) => [cluster, edit] as const)
  for (const cluster of clusters) keepApart(cluster, [...others, ...own])
}

/**
 * All findings of an edit stay apart from the issues that any of them was apart from: one that is
 * split off would otherwise join an issue that its former issue was split from.
 */
function keepApart(cluster: Cluster, others: readonly (readonly [Cluster, Edit])[]): void {
  for (const [other, edit] of others) {
    if (other === cluster) continue
    cluster.apart.set(other, edit)
    other.apart.set(cluster, edit)
  }
}

/** Why a finding that no rule joins is in its issue, or not in another one. */
export function describeCluster({ edit, side }: Pick<Cluster, 'edit' | 'side'>): string {
  return describeEdit(edit, edit.action === 'merge' ? 'Merged' : side === 0 ? 'Other findings were split off' : 'Split')
}

export function describeEdit({ by, comment }: Pick<Edit, 'by' | 'comment'>, verb: string): string {
  return comment === null ? `${verb} by ${by}.` : `${verb} by ${by}: ${comment}`
}

/** Returns the split that keeps apart any of these clusters from any of the others. */
export function splitBetween(some: ReadonlySet<Cluster>, others: ReadonlySet<Cluster>): Edit | null {
  for (const { apart } of some) for (const other of others) if (apart.has(other)) return apart.get(other) ?? null
  return null
}
