import { type JsonObject, objectsOf, textOf } from '../../../platform/json/read-value.ts'

/** A component that a vulnerability names, with what is said of its versions. */
export type Affected = { ref: string; versions: JsonObject[] }

/** The components that a vulnerability names, each once: a tool may split one's versions over several entries. */
export function affectedComponents(vulnerability: JsonObject): Affected[] {
  const byRef = new Map<string, Affected>()
  for (const entry of objectsOf(vulnerability.affects)) {
    const ref = textOf(entry.ref)
    if (ref === null) continue
    const known = byRef.get(ref)
    if (known === undefined) byRef.set(ref, { ref, versions: objectsOf(entry.versions) })
    else known.versions.push(...objectsOf(entry.versions))
  }
  return [...byRef.values()]
}

/**
 * Whether the report says of this very component that it is unaffected: by its own version, or, where its version is not known, by naming
 * unaffected versions only. Unaffected versions beside it are those that fix it or came before, so it stays affected, and so does one
 * of which only a range is said to be unaffected: reading a range wrongly would hide a vulnerability.
 */
export function isUnaffected({ versions }: Affected, componentVersion: string | null): boolean {
  const own = versions.filter(({ version }) => componentVersion !== null && textOf(version) === componentVersion)
  const telling = own.length > 0 || componentVersion !== null ? own : versions
  return telling.length > 0 && telling.every(({ status }) => status === 'unaffected')
}
