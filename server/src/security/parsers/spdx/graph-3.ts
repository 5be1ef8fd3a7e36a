import type { JsonObject } from '../../../platform/json/read-value.ts'
import { FINDINGS_MAX } from '../finding-batch.ts'
import type { Rating } from '../rating.ts'
import { referenceKey } from '../reference-key.ts'
import type { ReportWarnings } from '../report-warnings.ts'
import { vulnerabilitiesReferredTo } from './advisory-3.ts'
import { ratingOf } from './assessment-3.ts'
import { classOf, idOf, referencesOf } from './element-3.ts'
import { association, outweighs, type Statement, statementOf } from './statement-3.ts'
import { type DescribedVulnerability, describedVulnerability } from './vulnerability-3.ts'

const RATINGS_MAX = 20
const VULNERABILITIES_MAX = FINDINGS_MAX
/** Statements that are no findings must be known too. */
const STATEMENTS_MAX = 2 * FINDINGS_MAX
/** What is kept of all descriptions together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 24 * 1024 * 1024

/** What a graph says of vulnerabilities, put together from elements in any order. Vulnerabilities and packages are told by key. */
export class VulnerabilityGraph {
  /** By vulnerability, then by package: the statement that counts. */
  readonly statements = new Map<string, Map<string, Statement>>()
  readonly vulnerabilities = new Map<string, DescribedVulnerability>()
  readonly ratings = new Map<string, Rating[]>()
  readonly #warnings: ReportWarnings
  #statementCount = 0
  #textLeft = KEPT_TEXT_MAX
  /** More was said than could be kept. */
  isIncomplete = false

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
  }

  add(element: JsonObject): void {
    if (element.from !== undefined) this.#addRelationship(element)
    else if (classOf(element) === 'Vulnerability') this.#describe(idOf(element), describedVulnerability(element))
    else this.#addReferences(element)
  }

  #addRelationship(element: JsonObject): void {
    const rating = ratingOf(element)
    if (rating !== null) for (const id of referencesOf(element.from)) this.#rate(referenceKey(id), rating)
    const statement = statementOf(element)
    if (statement !== null) this.#state(statement)
  }

  /** A package that refers to vulnerabilities by itself. */
  #addReferences(element: JsonObject): void {
    const id = idOf(element)
    if (id === null) return
    for (const vulnerability of vulnerabilitiesReferredTo(element)) {
      const [name = ''] = vulnerability.ids
      this.#describe(name, vulnerability)
      this.#state(association([name], [id]))
    }
  }

  #describe(id: string | null, vulnerability: DescribedVulnerability): void {
    if (id === null || this.vulnerabilities.size >= VULNERABILITIES_MAX) return
    const { summary, description } = vulnerability
    this.#textLeft -= (summary?.length ?? 0) + (description?.length ?? 0)
    const kept = this.#textLeft >= 0 ? vulnerability : { ...vulnerability, summary: null, description: null }
    this.vulnerabilities.set(referenceKey(id), kept)
  }

  #rate(key: string, rating: Rating): void {
    const ratings = this.ratings.get(key) ?? []
    if (this.ratings.size >= VULNERABILITIES_MAX || ratings.length >= RATINGS_MAX) return
    this.ratings.set(key, [...ratings, rating])
  }

  #state(statement: Statement): void {
    for (const vulnerability of statement.vulnerabilities.map(referenceKey)) {
      const packages = this.statements.get(vulnerability) ?? new Map<string, Statement>()
      this.statements.set(vulnerability, packages)
      for (const key of statement.packages.map(referenceKey)) this.#stateOf(packages, key, statement)
    }
  }

  #stateOf(packages: Map<string, Statement>, key: string, statement: Statement): void {
    const known = packages.get(key)
    if (known === undefined && this.#statementCount++ >= STATEMENTS_MAX) {
      this.isIncomplete = true
      this.#warnings.add('The document says more of vulnerabilities than is kept')
    } else if (known === undefined || outweighs(statement, known)) {
      packages.set(key, statement)
    }
  }
}
