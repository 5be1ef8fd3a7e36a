import { parsePackageUrl } from '../../vocabulary/package-url.ts'
import type { GroupingFacts } from './grouping-facts.ts'

/**
 * A package's name in the form that its spellings share, without version and qualifiers: PyPI's `Foo_Bar` is `foo-bar`, Maven's
 * `group:artifact` is `group/artifact`. A scanner that writes no package URL names no ecosystem, so it is no part of it.
 */
export function sharedPackageName({
  purl,
  package_name: name,
}: Pick<GroupingFacts, 'purl' | 'package_name'>): string | null {
  const named = (purl === null ? null : parsePackageUrl(purl)?.name) ?? name
  return named === null ? null : named.toLowerCase().replaceAll(/[_.]/g, '-').replaceAll(':', '/')
}

/** The ecosystem: the type of the package URL, where there is one. */
export function ecosystemOf({ purl }: Pick<GroupingFacts, 'purl'>): string | null {
  return /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\//i.exec(purl ?? '')?.[1]?.toLowerCase() ?? null
}
