import type { ReportWarnings } from '../report/report-warnings.ts'

const RULES_MAX = 100_000
const RULE_TEXT_MAX = 32 * 1024 * 1024
const NAMES_MAX = 300_000
const NAME_TEXT_MAX = 24 * 1024 * 1024

/** Bounds what one report makes us remember. Beyond it results are still read, with less to go by, and a warning says so. */
export class RunBudget {
  readonly #warnings: ReportWarnings
  #rules = RULES_MAX
  #ruleText = RULE_TEXT_MAX
  #names = NAMES_MAX
  #nameText = NAME_TEXT_MAX

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
  }

  /** True where one more rule may be kept. */
  hasRoomForRule(): boolean {
    if (this.#rules-- > 0) return true
    this.#warnings.add(`The report describes more than ${RULES_MAX} rules; later ones were not read`)
    return false
  }

  /** True where a rule's texts may be kept too. */
  hasRoomForRuleText(length: number): boolean {
    this.#ruleText -= length
    if (this.#ruleText >= 0) return true
    this.#warnings.add('The descriptions of the rules are very long; later ones were not read')
    return false
  }

  /** True where one more artifact's or logical location's name, to which results refer by index, may be kept. */
  hasRoomForName(name: string): boolean {
    this.#nameText -= name.length
    if (this.#names-- > 0 && this.#nameText >= 0) return true
    this.#warnings.add(
      'The report lists very many artifacts; locations that refer to later ones by index were not read',
    )
    return false
  }
}
