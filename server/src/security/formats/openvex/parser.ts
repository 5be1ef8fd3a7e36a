import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { getMember, type JsonObject, toObject, toText, toTexts } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { ReportError, type ReportSource } from '../report/parsed-report.ts'
import {
  collectIds,
  formatComment,
  type OnStatements,
  parseAddress,
  parsePurl,
  parseTime,
  type ReadStatements,
  StatementBatch,
  type Subject,
  VEX_STATUSES,
  type VexDocument,
  type VexStatement,
} from '../report/vex-statement.ts'

const HEADER = ['@context', '@id', 'id', 'author', 'timestamp', 'last_updated', 'version'] as const
const STATEMENT = 'statements[*]'
const UNDATED = 'The document has no valid `timestamp`. Its statements count as made when it was uploaded.'
const SELECTION = createSelectionTree([...HEADER, 'statements:type', STATEMENT])

/**
 * Reads an OpenVEX 0.2 or 0.0.1 document of any size in one pass. Throws ReportError if the file is
 * not a supported OpenVEX document, JsonError if it is not JSON.
 */
export async function parseOpenVex(source: ReportSource, onStatements: OnStatements): Promise<VexDocument> {
  const batch = new StatementBatch(onStatements)
  const header = new Map<string, unknown>()
  for await (const selected of selectJson(source.open(), SELECTION)) {
    for (const value of selected) {
      if (value.path === STATEMENT) read(value, batch)
      else header.set(value.path, value.value)
    }
    await batch.flushFull()
  }
  const facts = readHeader(header)
  if (facts.issued_at === null) batch.warnings.add(UNDATED)
  return { ...facts, ...(await batch.finish()) }
}

function read({ keys, value, isOversize }: SelectedValue, batch: StatementBatch): void {
  const name = `Statement ${Number(keys[0]) + 1}`
  const statement = toObject(value)
  if (statement === null) {
    batch.entries.addSkipped(`${name} is ${isOversize ? 'too large' : 'not an object'}`)
    return
  }
  const outcome = readStatement(statement)
  if (typeof outcome === 'string') {
    batch.entries.addSkipped(`${name} ${outcome}`)
    return
  }
  batch.entries.addRead()
  const { subjects, ...facts } = outcome
  for (const subject of subjects) batch.addAbout(subject, facts)
}

/** The namespace of the versions that are read. The first version had none. */
const CONTEXT = /openvex\.dev\/ns(?:\/v?(\d{1,3}\.\d{1,3})(?:\.\d{1,3})?)?\/?$/i
const VERSIONS_READ = ['0.0', '0.2']

function readHeader(header: ReadonlyMap<string, unknown>): Omit<VexDocument, keyof ReadStatements> {
  refuseUnlessSupported(toTexts(header.get('@context')))
  if (header.get('statements:type') !== 'array') throw new ReportError('The member `statements` is not an array.')
  const author = toText(header.get('author'))
  if (author === null) throw new ReportError('The OpenVEX document has no `author`.')
  const version = header.get('version')
  return {
    publisher: truncateText(author, NAME_MAX) ?? 'unknown',
    document_id: parseAddress(toText(header.get('@id')) ?? toText(header.get('id'))),
    document_version: truncateText(typeof version === 'number' ? String(version) : toText(version), VERSION_MAX),
    issued_at: parseTime(toText(header.get('last_updated'))) ?? parseTime(toText(header.get('timestamp'))),
  }
}

function refuseUnlessSupported(contexts: readonly string[]): void {
  for (const context of contexts) {
    const match = CONTEXT.exec(context.slice(0, 500))
    if (match === null) continue
    const [, version = '0.0'] = match
    if (VERSIONS_READ.includes(version)) return
    throw new ReportError(`The OpenVEX version ${version} is not supported; use OpenVEX 0.2.0.`)
  }
  if (contexts.some((context) => /openvex\.dev/i.test(context))) {
    throw new ReportError('The `@context` of the document is not one of OpenVEX 0.2.0.')
  }
}

/** A statement with everything it is about; null for what cannot be identified. */
type ReadStatement = Omit<VexStatement, keyof Subject> & { subjects: (Subject | null)[] }

/** Reads a statement. Returns the reason if it cannot be read, for the end of a sentence. */
export function readStatement(statement: JsonObject): ReadStatement | string {
  const stated = toText(statement.status)?.trim().toLowerCase()
  const status = VEX_STATUSES.find((known) => known === stated)
  if (status === undefined) return 'has no known `status`'
  const vuln_ids = readIds(statement.vulnerability)
  if (vuln_ids.length === 0) return 'names no vulnerability'
  const products = toList(statement.products)
  return {
    status,
    vuln_ids,
    // A statement without products is about one that cannot be identified.
    subjects:
      products.length === 0
        ? [null]
        : products.flatMap((product) => listProductSubjects(product, statement.subcomponents)),
    justification: truncateText(toText(statement.justification), NAME_MAX),
    comment: formatComment([toText(statement.impact_statement), toText(statement.status_notes)]),
    stated_at: parseTime(toText(statement.last_updated)) ?? parseTime(toText(statement.timestamp)),
  }
}

/** An id or, since version 0.2, an object with a name and aliases. */
function readIds(vulnerability: unknown): string[] {
  const object = toObject(vulnerability)
  if (object === null) return collectIds([toText(vulnerability)])
  const named = collectIds([toText(object.name), ...toTexts(object.aliases)])
  return named.length > 0 ? named : collectIds([findIdentifier(object)])
}

/**
 * A product with subcomponents is about each of them. A subcomponent that cannot be identified does
 * not make the statement one about the whole product. Up to version 0.0.1, all products of a
 * statement have its subcomponents.
 */
function listProductSubjects(product: unknown, shared: unknown): (Subject | null)[] {
  const purl = findPackage(product)
  const name = purl ?? parseAddress(findIdentifier(product))
  const subcomponents = [...toList(getMember(product, 'subcomponents')), ...toList(shared)]
  if (subcomponents.length === 0) return [name === null ? null : { package: purl, product: name }]
  return subcomponents.map((subcomponent) => {
    const inner = findPackage(subcomponent)
    return inner === null ? null : { package: inner, product: name }
  })
}

/** The package URL among the identifiers of a component, or its id if that is one. */
function findPackage(component: unknown): string | null {
  return parsePurl(toText(getMember(component, 'identifiers', 'purl'))) ?? parsePurl(findIdentifier(component))
}

function findIdentifier(component: unknown): string | null {
  return toText(component) ?? toText(getMember(component, '@id')) ?? toText(getMember(component, 'id'))
}

/** JSON-LD writes a list of one as its only element. */
function toList(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}
