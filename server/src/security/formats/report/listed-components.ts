import { hash } from 'node:crypto'

/** A component, or the one that a finding is about. */
export type NamedComponent = { purl: string | null; name: string | null; version: string | null }

const COMPONENTS_MAX = 200_000
const SAMPLE_MAX = 100
const HASH_CHARS = 16

/**
 * The components that a bill of materials lists, as hashes. They tell whether a component is gone
 * or changed, and whether two documents without a name are about the same thing.
 */
export class ListedComponents {
  readonly #packages = new Set<string>()
  readonly #versions = new Set<string>()

  add(component: NamedComponent): void {
    const named = splitVersion(component)
    if (named === null || this.#versions.size > COMPONENTS_MAX) return
    this.#packages.add(computeKey(named.identity))
    this.#versions.add(computeKey(named.identity, named.version))
  }

  /** Whether the document may list this version of a component. */
  has(component: NamedComponent): boolean {
    const named = splitVersion(component)
    const isUnknown = named === null || this.#versions.size === 0 || this.#versions.size > COMPONENTS_MAX
    return isUnknown || this.#versions.has(computeKey(named.identity, named.version))
  }

  /** A sample of the components without their versions, with which other documents are compared. */
  sample(): string[] {
    return [...this.#packages].sort().slice(0, SAMPLE_MAX)
  }

  /** Whether the document lists half of the components of which this is a sample. */
  hasHalf(sample: readonly string[]): boolean {
    return sample.filter((key) => this.#packages.has(key)).length * 2 >= sample.length
  }
}

/** Not parsed as a package URL, because a document may have 100,000, which it spells alike. */
function splitVersion({ purl, name, version }: NamedComponent): { identity: string; version: string | null } | null {
  if (purl === null) return name === null ? null : { identity: name, version }
  const [plain = ''] = purl.trim().split(/[?#]/, 1)
  const at = plain.lastIndexOf('@')
  const hasVersion = at > plain.lastIndexOf('/') + 1
  return hasVersion ? { identity: plain.slice(0, at), version: plain.slice(at + 1) } : { identity: plain, version }
}

function computeKey(identity: string, version: string | null = ''): string {
  return hash('sha256', JSON.stringify([identity, version]), 'base64').slice(0, HASH_CHARS)
}
