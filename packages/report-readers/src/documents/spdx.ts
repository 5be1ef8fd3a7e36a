import type { FoundFile } from '../found-file.ts'
import { objectOf } from './json-value.ts'
import { selectJson } from './select-json.ts'

/** The classes of SPDX 3 that describe packages, without profile or namespace. */
const PACKAGE_CLASSES = new Set(['Package', 'AIPackage', 'DatasetPackage'])

const SELECTIONS = ['packages[]:type', '@graph[]', 'type', '@type']

/**
 * Counts the packages of an SPDX document: the list of version 2, and the elements of version 3. A
 * version 3 document without `@graph` is a single element.
 */
export async function countPackages(file: FoundFile): Promise<number> {
  let count = 0
  for await (const { path: member, value } of selectJson(file, SELECTIONS)) {
    if (member === 'packages[]:type') count += value === 'object' ? 1 : 0
    else count += isPackage(member === '@graph[]' ? typeOf(value) : value) ? 1 : 0
  }
  return count
}

function typeOf(element: unknown): unknown {
  const { type, '@type': longForm } = objectOf(element) ?? {}
  return type ?? longForm
}

/** True for `software_Package`, and for its IRI. */
function isPackage(type: unknown): boolean {
  const [name] = Array.isArray(type) ? type : [type]
  return typeof name === 'string' && PACKAGE_CLASSES.has(name.replace(/^.*[/#_:]/s, ''))
}
