import { getMember, type JsonObject, toObject, toText } from '../../../platform/json/read-value.ts'
import type { ReportSource } from '../report/parsed-report.ts'
import { isFinding } from './finding.ts'
import { listLocations, readArtifactLocation } from './location.ts'
import { type ReadRuns, readResults } from './read-runs.ts'
import { readRuleReference } from './rule.ts'
import { COMMIT, formatFingerprint, normalizeValue } from './subject.ts'

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
 * Finds the fingerprints that identify nothing: those that all results of a run or of each of its
 * rules share (constants, hashes of the rule, the commit of a shallow clone), and single values
 * that several problems of a rule share.
 */
export async function readSharedFingerprints(source: ReportSource, { runs, spans }: ReadRuns): Promise<void> {
  const left = new Map(runs.map((run, index) => [index, { run, seen: new Values(), count: 0 }]))
  const isDone = (index: number) => {
    const of = left.get(index)
    return of?.run === undefined || of.count >= COMPARED_MAX
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

/** What has one value of a fingerprint by one rule. */
type Sharing = { rule: string; value: string; places: Set<string>; texts: Set<string>; messages: Set<string> }

/** The values of each fingerprint, by rule. */
class Values {
  readonly #byName = new Map<string, Map<string, Sharing>>()

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
      for (const [name, stated] of Object.entries(toObject(result[member]) ?? {})) {
        if (OF_TEXT.test(name)) continue
        const { places, texts, messages } = this.#getSharing(name, rule, toText(stated) ?? '')
        places.add(place)
        messages.add(message)
        if (text !== null) texts.add(text.replace(/\s+/g, ''))
      }
    }
  }

  #getSharing(name: string, rule: string, stated: string): Sharing {
    const value = normalizeValue(stated)
    const byValue: Map<string, Sharing> = this.#byName.get(name) ?? new Map()
    const key = `${rule}\n${value}`
    const sharing = byValue.get(key) ?? { rule, value, places: new Set(), texts: new Set(), messages: new Set() }
    this.#byName.set(name, byValue.set(key, sharing))
    return sharing
  }

  /** The names that identify nothing, and of the others the values (`formatFingerprint`). */
  listShared(): Set<string> {
    return new Set(
      [...this.#byName].flatMap(([name, byValue]) => {
        const all = [...byValue.values()]
        return isShared(name, all) ? [name] : all.filter(isOfSeveral).map(({ value }) => formatFingerprint(name, value))
      }),
    )
  }
}

/**
 * Whether all results, or those of each rule, have one value. A commit is shared also by the only
 * result.
 */
function isShared(name: string, all: readonly Sharing[]): boolean {
  const values = new Set(all.map(({ value }) => value))
  if (name === COMMIT) return values.size === 1
  const rules = new Set(all.map(({ rule }) => rule))
  return all.length === rules.size && ((rules.size > 1 && values.size === 1) || all.some(isOfSeveral))
}

/**
 * Whether results of one rule with this value are several problems. Copies of one text may share a
 * value: it may be the hash of the text.
 */
function isOfSeveral({ places, texts, messages }: Sharing): boolean {
  return texts.size > 1 || (texts.size === 0 && places.size >= PLACES_MIN && messages.size > 1)
}
