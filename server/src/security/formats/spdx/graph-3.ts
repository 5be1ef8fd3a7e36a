import { JsonStore } from '../../../platform/json/json-store.ts'
import type { JsonObject } from '../../../platform/json/read-value.ts'
import type { Rating } from '../../vocabulary/rating.ts'
import { FINDINGS_MAX } from '../report/finding-batch.ts'
import { Memo } from '../report/memo.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'
import { vulnerabilitiesReferredTo } from './advisory-3.ts'
import { ratingOf } from './assessment-3.ts'
import { classOf, idOf, referencesOf } from './element-3.ts'
import { References } from './references-3.ts'
import { association, outweighs, type Statement, type Statements, statementsOf } from './statement-3.ts'
import { type DescribedVulnerability, describedVulnerability } from './vulnerability-3.ts'

const RATINGS_MAX = 20
const VULNERABILITIES_MAX = FINDINGS_MAX
/** Statements that are no findings must be known too. */
const STATEMENTS_MAX = 2 * FINDINGS_MAX
/** What is kept of all descriptions together, in UTF-16 code units. */
const KEPT_TEXT_MAX = 24 * 1024 * 1024
/** More than there are references. Two of them make one number that is exact. */
const REFERENCES_MAX = 2 ** 26

/** A statement on one vulnerability in one package, both by the number of their reference. */
export type Assessed = { vulnerability: number; package: number; statement: Statement }

/** What a graph says of vulnerabilities, put together from elements in any order. Compact, because it is kept until the end. */
export class VulnerabilityGraph {
  readonly references = new References()
  readonly #store = new JsonStore()
  readonly #statementNumbers = new Memo<number>()
  /** By vulnerability and package: the statement that counts. These and what follows are numbers in the store. */
  readonly #statements = new Map<number, number>()
  readonly #vulnerabilities = new Map<number, number>()
  readonly #ratings = new Map<number, number[]>()
  readonly #warnings: ReportWarnings
  #textLeft = KEPT_TEXT_MAX
  /** More was said than could be kept. */
  isIncomplete = false

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
  }

  /** True where the graph speaks of vulnerabilities. */
  get hasStatements(): boolean {
    return this.#statements.size > 0 || this.#vulnerabilities.size > 0
  }

  add(element: JsonObject): void {
    if (element.from !== undefined) this.#addRelationship(element)
    else if (classOf(element) === 'Vulnerability') this.#describe(idOf(element), describedVulnerability(element))
    else this.#addReferences(element)
  }

  *assessed(): Generator<Assessed> {
    for (const [pair, number] of this.#statements) {
      const vulnerability = Math.floor(pair / REFERENCES_MAX)
      yield { vulnerability, package: pair % REFERENCES_MAX, statement: this.#store.get(number) as Statement }
    }
  }

  vulnerability(reference: number): DescribedVulnerability | null {
    const number = this.#vulnerabilities.get(reference)
    return number === undefined ? null : (this.#store.get(number) as DescribedVulnerability)
  }

  ratings(reference: number): Rating[] {
    return (this.#ratings.get(reference) ?? []).map((number) => this.#store.get(number) as Rating)
  }

  #addRelationship(element: JsonObject): void {
    const rating = ratingOf(element)
    if (rating !== null) for (const id of referencesOf(element.from)) this.#rate(id, rating)
    const statements = statementsOf(element)
    if (statements !== null) this.#state(statements)
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
    if (id === null || this.#vulnerabilities.size >= VULNERABILITIES_MAX) return
    const { summary, description } = vulnerability
    this.#textLeft -= (summary?.length ?? 0) + (description?.length ?? 0)
    const kept = this.#textLeft >= 0 ? vulnerability : { ...vulnerability, summary: null, description: null }
    this.#vulnerabilities.set(this.references.numberOf(id), this.#store.add(kept))
  }

  #rate(id: string, rating: Rating): void {
    if (this.#ratings.size >= VULNERABILITIES_MAX) return
    const reference = this.references.numberOf(id)
    const ratings = this.#ratings.get(reference) ?? []
    if (ratings.length < RATINGS_MAX) this.#ratings.set(reference, [...ratings, this.#store.add(rating)])
  }

  #state({ vulnerabilities, packages, statement }: Statements): void {
    const number = this.#statementNumbers.get(JSON.stringify(statement), () => this.#store.add(statement))
    for (const vulnerability of vulnerabilities) {
      for (const name of packages) {
        if (this.isIncomplete) return
        const pair = this.references.numberOf(vulnerability) * REFERENCES_MAX + this.references.numberOf(name)
        this.#stateOf(pair, statement, number)
      }
    }
  }

  #stateOf(pair: number, statement: Statement, number: number): void {
    const known = this.#statements.get(pair)
    if (known !== undefined) {
      if (outweighs(statement, this.#store.get(known) as Statement)) this.#statements.set(pair, number)
    } else if (this.#statements.size < STATEMENTS_MAX) {
      this.#statements.set(pair, number)
    } else {
      this.isIncomplete = true
      this.#warnings.add('The document says more of vulnerabilities than is kept')
    }
  }
}
