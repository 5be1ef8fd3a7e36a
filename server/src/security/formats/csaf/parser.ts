import { createSelectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { getMember, type JsonObject, toObject, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { ReportError, type ReportSource } from '../report/parsed-report.ts'
import {
  collectIds,
  formatComment,
  type OnStatements,
  parseAddress,
  parseTime,
  type ReadStatements,
  StatementBatch,
  type Subject,
  type VexDocument,
  type VexStatement,
  type VexStatus,
} from '../report/vex-statement.ts'
import { CsafProducts, defineSelection } from './products.ts'

const HEADER = [
  'document.category',
  'document.csaf_version',
  'document.publisher.name',
  'document.publisher.namespace',
  'document.tracking.id',
  'document.tracking.version',
  'document.tracking.status',
  'document.tracking.current_release_date',
  'document.tracking.initial_release_date',
  'vulnerabilities:type',
]
const FIRST_PASS = defineSelection(HEADER)

const VULNERABILITY = 'vulnerabilities[*]'
/** Members of a vulnerability that can be long and that statements do not need. */
const UNREAD_MEMBERS = ['acknowledgments', 'notes', 'references', 'remediations', 'scores', 'metrics', 'involvements']
const SECOND_PASS = createSelectionTree([VULNERABILITY], { [VULNERABILITY]: UNREAD_MEMBERS })

/**
 * Reads a CSAF 2.0 document with statements about products: of the profile VEX or Security
 * Advisory. The first pass reads the header and the products, the second pass the vulnerabilities.
 * Throws ReportError if the file is not such a document, JsonError if it is not JSON.
 */
export async function parseCsaf(source: ReportSource, onStatements: OnStatements): Promise<VexDocument> {
  const header = new Map<string, unknown>()
  const products = new CsafProducts()
  for await (const selected of selectJson(source.open(), FIRST_PASS)) {
    for (const value of selected) {
      if (value.path.startsWith('product_tree.')) products.read(value)
      else header.set(value.path, value.value)
    }
  }
  products.finish()
  const facts = readHeader(header)
  const batch = new StatementBatch(onStatements)
  if (toText(header.get('document.tracking.status')) === 'draft') batch.warnings.add(DRAFT)
  if (facts.issued_at === null) batch.warnings.add(UNDATED)
  for await (const selected of selectJson(source.open(), SECOND_PASS)) {
    for (const value of selected) read(value, products, batch)
    await batch.flushFull()
  }
  if (products.hasUnread) batch.warnings.add(UNREAD_GROUPS)
  return { ...facts, ...(await batch.finish()) }
}

const DRAFT = 'The status of the document is `draft`. Its statements were read.'
const UNREAD_GROUPS =
  'Flags and threats name too many products by groups. Some statements have no justification or comment.'
const UNDATED = 'The document has no valid `current_release_date`. Its statements count as made when it was uploaded.'

function read({ keys, value, isOversize }: SelectedValue, products: CsafProducts, batch: StatementBatch): void {
  const name = `Vulnerability ${Number(keys[0]) + 1}`
  const vulnerability = toObject(value)
  if (vulnerability === null) {
    batch.entries.addSkipped(`${name} is ${isOversize ? 'too large' : 'not an object'}`)
    return
  }
  const statements = readVulnerability(vulnerability, products)
  let next = statements.next()
  for (; !next.done; next = statements.next()) batch.addAbout(next.value.subject, next.value.facts)
  if (next.value === null) batch.entries.addRead()
  else batch.entries.addSkipped(`${name} ${next.value}`)
}

/** The profiles that state which products are affected. */
const CATEGORIES = ['csaf_vex', 'csaf_security_advisory']

function readHeader(header: ReadonlyMap<string, unknown>): Omit<VexDocument, keyof ReadStatements> {
  const text = (path: string) => toText(header.get(path))
  const version = text('document.csaf_version')
  if (version === null || !/^2\.[01]$/.test(version)) {
    throw new ReportError(`The CSAF version ${JSON.stringify(version?.slice(0, 30))} is not supported; use CSAF 2.0.`)
  }
  const category = text('document.category')
  if (category === null || !CATEGORIES.includes(category)) {
    const stated = `The \`category\` of the CSAF document is ${JSON.stringify(category?.slice(0, 50) ?? null)}`
    throw new ReportError(`${stated}. Supported are ${CATEGORIES.map((name) => `"${name}"`).join(' and ')}.`)
  }
  if (header.get('vulnerabilities:type') !== 'array') {
    throw new ReportError('The member `vulnerabilities` of the CSAF document is not an array.')
  }
  const publisher = text('document.publisher.namespace') ?? text('document.publisher.name')
  if (publisher === null) throw new ReportError('The CSAF document names no `publisher`.')
  return {
    publisher: truncateText(publisher, NAME_MAX) ?? 'unknown',
    document_id: parseAddress(text('document.tracking.id')),
    document_version: truncateText(text('document.tracking.version'), VERSION_MAX),
    issued_at:
      parseTime(text('document.tracking.current_release_date')) ??
      parseTime(text('document.tracking.initial_release_date')),
  }
}

/** The lists of `product_status` (CSAF 2.0 §3.2.3.9), the more cautious status first. */
const STATUSES: [list: string, status: VexStatus][] = [
  ['known_affected', 'affected'],
  ['first_affected', 'affected'],
  ['last_affected', 'affected'],
  ['under_investigation', 'under_investigation'],
  ['fixed', 'fixed'],
  ['first_fixed', 'fixed'],
  ['known_not_affected', 'not_affected'],
]

type Statement = { subject: Subject | null; facts: Omit<VexStatement, keyof Subject> }

/** The statements of a vulnerability; a string says why it cannot be read. */
export function* readVulnerability(
  vulnerability: JsonObject,
  products: CsafProducts,
): Generator<Statement, string | null> {
  // Ids of other systems can be numbers of bug reports, so only known forms are read.
  const known = toObjects(vulnerability.ids).flatMap(({ text }) => collectVulnerabilityIds([toText(text) ?? '']))
  const vuln_ids = collectIds([toText(vulnerability.cve), ...known])
  if (vuln_ids.length === 0) return 'has neither a `cve` nor a known id'
  const facts = new ProductFacts(vulnerability, products)
  const stated = new Set<string>()
  for (const [list, status] of STATUSES) {
    for (const id of toTexts(getMember(vulnerability, 'product_status', list))) {
      // A product in several lists has contradicting statuses. The more cautious one counts.
      if (stated.has(id)) continue
      stated.add(id)
      const { justification, comment, at } = facts.of(id, status)
      yield { subject: products.findSubject(id), facts: { status, vuln_ids, justification, comment, stated_at: at } }
    }
  }
  return null
}

type Fact = { text: string; at: string | null }

/** What `flags` and `threats` state about products, each of which may name groups of products. */
class ProductFacts {
  readonly #justifications: Map<string, Fact>
  readonly #impacts: Map<string, Fact>
  /** An impact that names no product is about all of them. */
  readonly #impact: string | null

  constructor({ flags, threats }: JsonObject, products: CsafProducts) {
    const impacts = toObjects(threats).filter(({ category }) => category === 'impact')
    this.#justifications = byProduct(toObjects(flags), 'label', products)
    this.#impacts = byProduct(impacts, 'details', products)
    const general = impacts.find((threat) => threat.product_ids === undefined && threat.group_ids === undefined)
    this.#impact = toText(general?.details)
  }

  of(id: string, status: VexStatus): Pick<VexStatement, 'justification' | 'comment'> & { at: string | null } {
    if (status !== 'not_affected') return { justification: null, comment: null, at: null }
    const flag = this.#justifications.get(id)
    const impact = this.#impacts.get(id)
    return {
      justification: truncateText(flag?.text ?? null, NAME_MAX),
      comment: formatComment([impact?.text ?? this.#impact]),
      at: flag?.at ?? impact?.at ?? null,
    }
  }
}

/** The first entry that names a product counts. */
function byProduct(entries: readonly JsonObject[], member: string, products: CsafProducts): Map<string, Fact> {
  const facts = new Map<string, Fact>()
  for (const entry of entries) {
    const text = toText(entry[member])
    if (text === null) continue
    const groups = [...new Set(toTexts(entry.group_ids))].map((group) => products.listGroup(group))
    const fact = { text, at: parseTime(toText(entry.date)) }
    for (const ids of [toTexts(entry.product_ids), ...groups])
      for (const id of ids) if (!facts.has(id)) facts.set(id, fact)
  }
  return facts
}
