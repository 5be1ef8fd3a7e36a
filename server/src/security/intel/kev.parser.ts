import { JsonError } from '../../platform/json/json-grammar.ts'
import { createSelectionTree } from '../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../platform/json/json-selector.ts'
import { getMember, toText } from '../../platform/json/read-value.ts'
import { selectJson } from '../../platform/json/select-json.ts'
import { isCveId } from '../vocabulary/vulnerability-id.ts'
import { FileRows, IntelError, parseDate, parseTimestamp, type ReadFile } from './intel-file.ts'

export type KevEntry = { cve_id: string; date_added: string; due_date: string | null; ransomware: boolean }

const VULNERABILITIES = 'vulnerabilities[*]'
const SELECTION = createSelectionTree(['catalogVersion', 'dateReleased', VULNERABILITIES])
const LIMITS = { depthMax: 32, valueBytesMax: 256 * 1024 }
const ENTRIES_MAX = 1_000_000

/**
 * Reads CISA's catalog of known exploited vulnerabilities
 * (known_exploited_vulnerabilities_schema.json). Yields entries in batches and returns the
 * catalog's version and date. An entry that cannot be read is skipped. Throws IntelError, possibly
 * after some batches.
 */
export async function* parseKev(source: AsyncIterable<Uint8Array>): AsyncGenerator<KevEntry[], ReadFile> {
  const catalog = new Catalog()
  try {
    for await (const values of selectJson(source, SELECTION, LIMITS)) {
      const entries = catalog.read(values)
      if (entries.length > 0) yield entries
    }
  } catch (error) {
    throw error instanceof JsonError ? new IntelError(`The catalog is not valid JSON: ${error.message}`) : error
  }
  return catalog.facts()
}

class Catalog {
  #version: string | null = null
  #released: Date | null = null
  readonly #seen = new Set<string>()
  readonly #rows = new FileRows()

  read(values: SelectedValue[]): KevEntry[] {
    return values.flatMap((selected) => {
      if (selected.path === VULNERABILITIES) return this.#rows.read(() => this.#entry(selected))
      if (selected.path === 'catalogVersion') this.#version = toText(selected.value)
      else this.#released = parseTimestamp(selected.value)
      return []
    })
  }

  facts(): ReadFile {
    if (this.#released === null) throw new IntelError('The file is not a KEV catalog: it has no valid dateReleased.')
    return { version: this.#version, as_of: this.#released, ...this.#rows.finish('vulnerabilities') }
  }

  #entry({ value, keys: [index] }: SelectedValue): KevEntry {
    const path = `vulnerabilities[${index}]`
    const id = getMember(value, 'cveID')
    if (!isCveId(id)) throw new IntelError(`${path} has no CVE id.`)
    if (this.#seen.has(id)) throw new IntelError(`${path} repeats ${id}.`)
    if (this.#seen.size >= ENTRIES_MAX)
      throw new IntelError(`The catalog contains more than ${ENTRIES_MAX} vulnerabilities.`)
    const entry = {
      cve_id: id,
      date_added: requiredDate(value, 'dateAdded', path),
      due_date: toText(getMember(value, 'dueDate')) === null ? null : requiredDate(value, 'dueDate', path),
      ransomware: getMember(value, 'knownRansomwareCampaignUse') === 'Known',
    }
    this.#seen.add(id)
    return entry
  }
}

/** `path` names the entry in messages. */
function requiredDate(entry: unknown, member: string, path: string): string {
  const date = parseDate(getMember(entry, member))
  if (date === null) throw new IntelError(`${path} (${getMember(entry, 'cveID')}): ${member} is not a valid date.`)
  return date
}
