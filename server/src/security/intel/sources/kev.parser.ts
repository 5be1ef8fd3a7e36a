import { JsonError } from '../../../platform/json/json-error.ts'
import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { memberOf, textOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { isCveId } from '../../vocabulary/vulnerability-id.ts'
import { IntelError } from '../intel-error.ts'
import { calendarDateOf, timestampOf } from './calendar-date.ts'
import type { SourceFacts } from './intel-source.ts'

export type KevEntry = { cve_id: string; date_added: string; due_date: string | null; ransomware: boolean }

const VULNERABILITIES = 'vulnerabilities[*]'
const SELECTION = selectionTree(['catalogVersion', 'dateReleased', VULNERABILITIES])
const LIMITS = { depthMax: 32, valueBytesMax: 256 * 1024 }
const ENTRIES_MAX = 1_000_000

/**
 * Reads CISA's catalogue of known exploited vulnerabilities (known_exploited_vulnerabilities_schema.json) and yields its
 * entries in batches; it returns what the catalogue says of itself. Throws IntelError, possibly after batches.
 */
export async function* parseKev(source: AsyncIterable<Uint8Array>): AsyncGenerator<KevEntry[], SourceFacts> {
  const catalogue = new Catalogue()
  try {
    for await (const values of selectJson(source, SELECTION, LIMITS)) {
      const entries = catalogue.read(values)
      if (entries.length > 0) yield entries
    }
  } catch (error) {
    throw error instanceof JsonError ? new IntelError(`The catalogue cannot be read as JSON: ${error.message}`) : error
  }
  return catalogue.facts()
}

class Catalogue {
  #version: string | null = null
  #released: Date | null = null
  readonly #seen = new Set<string>()

  read(values: SelectedValue[]): KevEntry[] {
    return values.flatMap((selected) => {
      if (selected.path === VULNERABILITIES) return [this.#entry(selected)]
      if (selected.path === 'catalogVersion') this.#version = textOf(selected.value)
      else this.#released = timestampOf(selected.value)
      return []
    })
  }

  facts(): SourceFacts {
    if (this.#released === null) throw new IntelError('The catalogue has no dateReleased; is it a KEV catalogue?')
    if (this.#seen.size === 0) throw new IntelError('The catalogue holds no vulnerabilities.')
    return { version: this.#version, as_of: this.#released }
  }

  #entry({ value, at: [index] }: SelectedValue): KevEntry {
    const place = `vulnerabilities[${index}]`
    const id = memberOf(value, 'cveID')
    if (!isCveId(id)) throw new IntelError(`${place} has no CVE id.`)
    if (this.#seen.has(id)) throw new IntelError(`${place} repeats ${id}.`)
    if (this.#seen.size >= ENTRIES_MAX) throw new IntelError(`${place} is one more than ${ENTRIES_MAX}.`)
    this.#seen.add(id)
    return {
      cve_id: id,
      date_added: requiredDate(value, 'dateAdded', place),
      due_date: textOf(memberOf(value, 'dueDate')) === null ? null : requiredDate(value, 'dueDate', place),
      ransomware: memberOf(value, 'knownRansomwareCampaignUse') === 'Known',
    }
  }
}

function requiredDate(entry: unknown, member: string, place: string): string {
  const date = calendarDateOf(memberOf(entry, member))
  if (date === null) throw new IntelError(`${place} (${memberOf(entry, 'cveID')}): ${member} is no date.`)
  return date
}
