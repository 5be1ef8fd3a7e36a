import type { ReportWarnings } from '../report/report-warnings.ts'

const RULES_MAX = 100_000
const RULE_TEXT_MAX = 32 * 1024 * 1024
const NAMES_MAX = 300_000
const NAME_TEXT_MAX = 24 * 1024 * 1024

/**
 * Limits what is kept of a report for its results. Beyond a limit a warning is added, and results
 * are read with less information.
 */
export class RunBudget {
  readonly #warnings: ReportWarnings
  #rules = RULES_MAX
  #ruleText = RULE_TEXT_MAX
  #names = NAMES_MAX
  #nameText = NAME_TEXT_MAX

  constructor(warnings: ReportWarnings) {
    this.#warnings = warnings
  }

  /** Takes the room for a rule; false if there is none. */
  hasRoomForRule(): boolean {
    if (this.#rules-- > 0) return true
    this.#warnings.add(`The report describes more than ${RULES_MAX} rules; the rest was not read.`)
    return false
  }

  /** Takes the room for a rule's texts; false if there is none. */
  hasRoomForRuleText(length: number): boolean {
    this.#ruleText -= length
    if (this.#ruleText >= 0) return true
    this.#warnings.add('The descriptions of the rules are too long together; some were not read.')
    return false
  }

  /** Takes the room for the name of an artifact or logical location; false if there is none. */
  hasRoomForName(name: string): boolean {
    this.#nameText -= name.length
    if (this.#names-- > 0 && this.#nameText >= 0) return true
    this.#warnings.add('The report lists too many artifacts; some locations that refer to them were not read.')
    return false
  }
}
