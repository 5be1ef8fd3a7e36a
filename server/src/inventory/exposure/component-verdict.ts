import { DISTRIBUTION_TYPES } from '../../security/vocabulary/package-url.ts'
import { ECOSYSTEMS } from '../advisories/ecosystems.ts'
import {
  type AskedPackage,
  evaluateAdvisories,
  isPatched,
  type PackageAdvisory,
  toAskedPackage,
} from '../advisories/group-matches.ts'
import type { CandidateFacts } from './evidence.store.ts'

/** Why a component that the advisories name may or may not be affected. */
export type UnknownComponent = 'unknown_version' | 'no_release' | 'unsupported_ecosystem'

/** What the advisories of one vulnerability say of a component; null if they do not name it. */
export type ComponentVerdict =
  | { verdict: 'affected'; fixed_version: string | null }
  | { verdict: 'version' | 'withdrawn' | UnknownComponent }

/** An advisory with the package that it is about, as OSV names it. */
export type NamedAdvisory = PackageAdvisory & { ecosystem: string; package_key: string }

/** What documents must contain to say something about packages of distributions. */
export const OPERATING_SYSTEM = 'operating system'

const ECOSYSTEM_TYPES = new Map(ECOSYSTEMS.map(({ name, type }) => [name, type]))

/** One vulnerability, asked about components. Each component and release is evaluated once. */
export class VulnerabilityQuestion {
  readonly keys: readonly string[]
  /** The kinds of packages that it is about, as `npm`; distributions are one. */
  readonly package_types: ReadonlySet<string>
  readonly #ids: readonly string[]
  readonly #advisories: ReadonlyMap<string, NamedAdvisory[]>
  readonly #known = new Map<string, ComponentVerdict | null>()

  /** `ids` are all of the vulnerability, the canonical one first. */
  constructor(ids: readonly string[], advisories: readonly NamedAdvisory[]) {
    this.#ids = ids
    this.#advisories = Map.groupBy(advisories, ({ ecosystem, package_key }) => `${ecosystem}\n${package_key}`)
    this.keys = [...new Set(advisories.map(({ package_key }) => package_key))]
    const types = advisories.map(({ ecosystem }) => ECOSYSTEM_TYPES.get(ecosystem) ?? ecosystem)
    this.package_types = new Set(types.map((type) => (DISTRIBUTION_TYPES.has(type) ? OPERATING_SYSTEM : type)))
  }

  /**
   * `operatingSystem` is that of the document, which says the release where the component does
   * not.
   */
  evaluate(component: CandidateFacts, operatingSystem: string | null): ComponentVerdict | null {
    const key = `${component.component_no} ${DISTRIBUTION_TYPES.has(component.type) ? operatingSystem : ''}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const verdict = this.#evaluate(component, operatingSystem)
    this.#known.set(key, verdict)
    return verdict
  }

  #evaluate(component: CandidateFacts, operatingSystem: string | null): ComponentVerdict | null {
    const asked = toAskedPackage(component, operatingSystem)
    if (asked === null) return component.type === 'file' ? null : { verdict: 'unsupported_ecosystem' }
    const { ecosystem, package_key, version, releases } = asked
    const advisories = this.#advisories.get(`${ecosystem.name}\n${package_key}`)
    if (advisories === undefined) return null
    if (version === null) return { verdict: 'unknown_version' }
    if (releases.length === 0) return { verdict: 'no_release' }
    return this.#match({ ecosystem, version, releases }, advisories)
  }

  #match(asked: AskedPackage, advisories: readonly NamedAdvisory[]): ComponentVerdict {
    const [canonical_id = ''] = this.#ids
    const groups = new Map(this.#ids.map((id) => [id, { canonical_id, ids: this.#ids }]))
    const find = (about: readonly PackageAdvisory[]) =>
      evaluateAdvisories(asked, about, groups).find(({ vuln_ids }) => vuln_ids[0] === canonical_id)
    const match = find(advisories)
    if (match?.verdict === 'affected') return { verdict: 'affected', fixed_version: match.fixed_version }
    if (match?.verdict === 'unknown_version') return { verdict: 'unknown_version' }
    const before = find(advisories.map((advisory) => ({ ...advisory, withdrawn: false })))
    return { verdict: match === undefined && before?.verdict === 'affected' ? 'withdrawn' : 'version' }
  }

  /** Whether a document says that a patch of the component resolves the vulnerability. */
  isPatched({ patched }: CandidateFacts): boolean {
    return isPatched(patched, this.#ids)
  }
}
