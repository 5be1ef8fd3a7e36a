import { getMember, type JsonObject, toObject, toText } from '../../../platform/json/read-value.ts'
import type { ReportSource } from '../report/parsed-report.ts'
import { isFinding } from './finding.ts'
import { listLocations, readArtifactLocation } from './location.ts'
import { type ReadRuns, readResults } from './read-runs.ts'
import { readRuleReference } from './rule.ts'
import { COMMIT } from './subject.ts'

/** The results of a run that are compared. */
const COMPARED_MAX = 1000
/**
 * Where the texts are unknown, different messages at as many places of one rule show that their one
 * value is no text's hash. Equal messages may be about copies of one text.
 */
const PLACES_MIN = 3

/** By definition the hash of a line, so that copies of the line share it (§3.27.17). */
const OF_TEXT = /^primaryLocationLineHash\b/

/**
 * Finds the fingerprints that identify nothing, because all results of a run or of each of its
 * rules share them: constants, hashes of the rule, the commit of a shallow clone. Reads on only
 * while a fingerprint may be one of them.
 */
export async function readSharedFingerprints(source: ReportSource, { runs, spans }: ReadRuns): Promise<void> {
  const left = new Map(runs.map((run, index) => [index, { run, seen: new Values(), count: 0 }]))
  const isDone = (index: number) => {
    const of = left.get(index)
    return of?.run === undefined || of.count >= COMPARED_MAX || of.seen.areAllTold
  }
  for (const span of spans) {
    if (isDone(span.run)) continue
    for await (const { elements } of readResults(source, [span])) {
      for (const { value } of elements) {
        const result = toObject(value)
        const of = left.get(span.run)
        if (of === undefined || result === null || !isFinding(result)) continue
        of.count++
        of.seen.add(result)
      }
      if (isDone(span.run)) break
    }
  }
  for (const { run, seen } of left.values()) if (run !== undefined) run.sharedFingerprints = seen.listShared()
}

type Seen = {
  byRule: Map<string, string>
  places: Map<string, Set<string>>
  texts: Set<string>
  messages: Set<string>
  isTold: boolean
}

/** The values of each fingerprint, by rule. */
class Values {
  readonly #byName = new Map<string, Seen>()
  areAllTold = false

  add(result: JsonObject): void {
    const { id, index } = readRuleReference(result)
    const rule = id ?? `#${index}`
    const location = listLocations(result)[0]
    const physical = getMember(location, 'physicalLocation')
    const file = readArtifactLocation(getMember(physical, 'artifactLocation'))
    const region = getMember(physical, 'region')
    const text = toText(getMember(region, 'snippet', 'text'))
    const place = JSON.stringify([file.uri ?? file.index, getMember(region, 'startLine')])
    const message = JSON.stringify(result.message ?? null)
    for (const member of ['fingerprints', 'partialFingerprints']) {
      for (const [name, value] of Object.entries(toObject(result[member]) ?? {})) {
        if (!OF_TEXT.test(name)) this.#addValue(name, { rule, value: toText(value) ?? '', place, message, text })
      }
    }
    this.areAllTold = this.#byName.size > 0 && this.#byName.values().every(({ isTold }) => isTold)
  }

  #addValue(
    name: string,
    {
      rule,
      value,
      place,
      message,
      text,
    }: Record<'rule' | 'value' | 'place' | 'message', string> & {
      text: string | null
    },
  ) {
    const seen: Seen = this.#byName.get(name) ?? {
      byRule: new Map(),
      places: new Map(),
      texts: new Set(),
      messages: new Set(),
      isTold: false,
    }
    this.#byName.set(name, seen)
    if (seen.isTold) return
    if ((seen.byRule.get(rule) ?? value) !== value) seen.isTold = true
    seen.byRule.set(rule, value)
    seen.places.set(rule, (seen.places.get(rule) ?? new Set()).add(place))
    seen.messages.add(`${rule} ${message}`)
    if (text !== null) seen.texts.add(`${rule} ${text.replace(/\s+/g, '')}`)
  }

  /**
   * Copies of one text may share a fingerprint: it may be the hash of the text. A commit is shared
   * also by the only result.
   */
  listShared(): Set<string> {
    const shared = [...this.#byName].filter(([name, { byRule, places, texts, messages, isTold }]) => {
      if (name === COMMIT) return new Set(byRule.values()).size === 1 && !isTold
      const isOneValue = byRule.size > 1 && new Set(byRule.values()).size === 1
      const isAcrossTexts = texts.size > byRule.size
      const most = Math.max(...places.values().map(({ size }) => size))
      const isAcrossMessages = texts.size === 0 && most >= PLACES_MIN && messages.size > byRule.size
      return !isTold && (isOneValue || isAcrossTexts || isAcrossMessages)
    })
    return new Set(shared.map(([name]) => name))
  }
}
