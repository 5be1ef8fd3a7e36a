import type { GroupingCode, GroupingFacts } from './grouping-facts.ts'
import { type Detail, Links, type Match, rankOf } from './links.ts'

/** A rule that held for a finding, and the numbers of all for which it held in one. */
export type RecordedMatch = Match & { code: GroupingCode; detail: string; numbers: readonly number[] }

/** Links that keep every match, and not only the reason, so that an issue can be explained by what made it. */
export class RecordedLinks extends Links {
  readonly #matches: RecordedMatch[][]

  constructor(members: readonly GroupingFacts[]) {
    super(members)
    this.#matches = members.map(() => [])
  }

  override join(numbers: readonly number[], code: GroupingCode, match: Match, detailOf: Detail): void {
    super.join(numbers, code, match, detailOf)
    if (numbers.length < 2) return
    for (const at of numbers) {
      this.#matches[at]?.push({ ...match, code, detail: detailOf(this.factsOf(at)), numbers })
    }
  }

  /** In the order in which the rules are asked. The first is the finding's reason. */
  matchesOf(number: number): RecordedMatch[] {
    const matches = this.#matches[number] ?? []
    return matches.sort((a, b) => rankOf(a.code) - rankOf(b.code) || (a.detail < b.detail ? -1 : 1))
  }
}
