import { toApkKey } from './apk.ts'
import { toDpkgKey } from './dpkg.ts'
import { toMavenKey } from './maven.ts'
import { toNumbersKey, toPackagistKey } from './packagist.ts'
import { toPep440Key } from './pep440.ts'
import { toRpmKey } from './rpm.ts'
import { toRubyGemsKey } from './rubygems.ts'
import { toActionKey, toGoKey, toNuGetKey, toPubKey, toSemverKey } from './semver.ts'
import { VERSION_CHARS_MAX, type VersionOrder } from './version-key.ts'

/** The version orders by name (docs/adr/0033-version-orders.md). */
const ORDERS = {
  actions: toActionKey,
  apk: toApkKey,
  dpkg: toDpkgKey,
  go: toGoKey,
  maven: toMavenKey,
  npm: toSemverKey,
  nuget: toNuGetKey,
  numbers: toNumbersKey,
  packagist: toPackagistKey,
  pep440: toPep440Key,
  pub: toPubKey,
  rpm: toRpmKey,
  rubygems: toRubyGemsKey,
  semver: toSemverKey,
} as const satisfies Record<string, VersionOrder>

export type VersionOrderName = keyof typeof ORDERS

export const VERSION_ORDERS = Object.keys(ORDERS) as VersionOrderName[]

/**
 * The key of a version in an order. Versions compare like their keys, by code units. Null for a
 * version without a place in the order, and for a longer text than `VERSION_CHARS_MAX`.
 */
export function toVersionKey(order: VersionOrderName, version: string): string | null {
  return version === '' || version.length > VERSION_CHARS_MAX ? null : ORDERS[order](version)
}
