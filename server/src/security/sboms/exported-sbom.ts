import type { PresentComponent } from '../../inventory/sboms/present-component.store.ts'
import { compareTexts } from '../../platform/text.ts'
import type { FoundVulnerability } from './exported-finding.store.ts'

/** A component of all documents of a repository together. */
export type ExportedComponent = Pick<
  PresentComponent,
  'no' | 'purl' | 'cpe' | 'type' | 'namespace' | 'name' | 'version' | 'supplier' | 'scope'
> & {
  /** Unique in the document, and the same in every export. */
  ref: string
  licenses: string[]
  hashes: Record<string, string>
  categories: string[]
  paths: string[]
}

/** A vulnerability, and the components of the document that have it. */
export type ExportedVulnerability = Omit<FoundVulnerability, 'purl'> & { refs: string[] }

/** What is stored of a repository, before it has a format. */
export type ExportedSbom = {
  /** A UUID that is the same for the same contents. */
  id: string
  repository: string
  /** When the newest of the documents was sent. */
  created_at: string
  components: ExportedComponent[]
  /** What each component brings in, by their references; `ROOT` is the repository. */
  dependencies: Map<string, string[]>
  /** Null if they were not asked for. */
  vulnerabilities: ExportedVulnerability[] | null
}

export const ROOT = 'repository'

/** Merges what several documents state about a component, in an order that only depends on it. */
export function mergeComponents(rows: readonly PresentComponent[]): ExportedComponent[] {
  const merged = [...Map.groupBy(rows, ({ no }) => no).values()].map(mergeRows)
  return merged.sort((a, b) => compareTexts(a.ref, b.ref))
}

const SCOPES = ['required', 'optional', 'excluded'] as const

function mergeRows(rows: readonly PresentComponent[]): ExportedComponent {
  const [first] = rows as [PresentComponent]
  const { no, purl, cpe, namespace, name, version } = first
  return {
    ...{ no, purl, cpe, namespace, name, version },
    ref: purl ?? cpe ?? `${first.type}:${name}@${version ?? ''}`,
    type: sortTexts(rows.map(({ type }) => type))[0] ?? first.type,
    supplier: sortTexts(rows.map(({ supplier }) => supplier))[0] ?? null,
    scope: SCOPES.find((scope) => rows.some((row) => row.scope === scope)) ?? null,
    licenses: sortTexts(rows.flatMap(({ licenses }) => licenses)),
    hashes: Object.fromEntries(
      rows.flatMap(({ hashes }) => Object.entries(hashes)).sort(([a], [b]) => compareTexts(a, b)),
    ),
    categories: sortTexts(rows.map(({ category }) => category)),
    paths: sortTexts(rows.map(({ path }) => path)),
  }
}

/** Each text once, by code points. */
function sortTexts(texts: readonly (string | null)[]): string[] {
  return [...new Set(texts.filter((text) => text !== null))].sort(compareTexts)
}

/** The references that each component brings in, by shortest paths: not every dependency. */
export function collectDependencies(
  rows: readonly PresentComponent[],
  components: readonly ExportedComponent[],
): Map<string, string[]> {
  const refs = new Map(components.map(({ no, ref }) => [no, ref]))
  const edges = rows.flatMap(({ no, parent_no, direct }) => {
    const from = parent_no === null ? (direct === true ? ROOT : undefined) : refs.get(parent_no)
    return from === undefined ? [] : [[from, refs.get(no) as string] as const]
  })
  const grouped = Map.groupBy(edges, ([from]) => from)
  return new Map(
    [...grouped]
      .map(([from, own]) => [from, sortTexts(own.map(([, to]) => to))] as const)
      .sort(([a], [b]) => compareTexts(a, b)),
  )
}
