import type { IdentifiedComponent } from '../components/component-identity.ts'

/** More components of a document are not kept. */
export const COMPONENTS_MAX = 100_000
/** The length of all texts of a document that are kept, in UTF-16 code units. */
export const TEXT_MAX = 64 * 1024 * 1024

/** What a document states about a component besides its identity. Documents share equal facts. */
export type ComponentFacts = {
  /** As the document writes it; null without one. */
  purl: string | null
  type: string
  scope: 'required' | 'optional' | 'excluded' | null
  /** SPDX expressions or names. */
  licenses: string[]
  supplier: string | null
  /** Hash values by the name of their algorithm. */
  hashes: Record<string, string>
  /** The file that declares the component. */
  path: string | null
  /** Ids of vulnerabilities that patches of the component resolve. */
  patched: string[]
}

/** A component of a document with the one that brings it in. */
export type SbomComponent = {
  component: IdentifiedComponent
  facts: ComponentFacts
  /**
   * The position of the component before this one on the shortest path from the root. -1 is the
   * root, and null means that the document does not state a path.
   */
  parent: number | null
}

/**
 * What a document is about, named by digest. `stated` if that is only the version of an image: it
 * counts where a report or gate names the same digest.
 */
export type SbomSubject = { name: string; sha256: string; stated?: true }

/** What a bill of materials contains. */
export type Sbom = {
  tool: string
  /** The image or project that the document is about, as streams are told apart by it. */
  subject: string | null
  components: SbomComponent[]
  subjects: SbomSubject[]
  /** The operating system that the document names, as `debian-12`. */
  operatingSystem: string | null
  /** Components that could not be read. */
  skipped: number
  truncated: boolean
}

const DIGEST = /^[0-9a-f]{64}$/

/** A subject with a SHA-256 in lower case; null for another digest. */
export function toSubject(name: string, digest: string): SbomSubject | null {
  const sha256 = digest
    .trim()
    .toLowerCase()
    .replace(/^sha256:/, '')
  return DIGEST.test(sha256) && name !== '' ? { name: name.slice(0, 300), sha256 } : null
}
