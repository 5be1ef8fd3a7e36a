import { listPlaces, parseMessage } from '../../vocabulary/message-marks.ts'
import { collectAnchors, matchBlocks, matchEdited, matchSame } from './align-file.ts'
import { ComparedFile } from './compared-file.ts'
import {
  getContent,
  getPlacedContent,
  getRule,
  groupIndexes,
  hasContent,
  isOfPackage,
  type Match,
  Matching,
  type Pair,
  type Paths,
  type Side,
  type TrackedFinding,
} from './matching.ts'
import { collectMovedBlocks } from './path-contents.ts'
import type { FilePair } from './rename-evidence.ts'
import { matchRenamedFiles } from './renamed-files.ts'

/**
 * Finds the stored findings of one stream in a report. `anchors` are matched already. Findings with
 * the same content come first: in their file, in renamed files, then in other files, unless they
 * stay in theirs. Edited ones are looked for among the rest.
 */
export function matchFindings(
  stored: readonly TrackedFinding[],
  reported: readonly TrackedFinding[],
  anchors: readonly Pair[],
  staysInFile = false,
): Match[] {
  const matching = new Matching(stored, reported, anchors)
  const [before, after] = [byPath(stored), byPath(reported)]
  const compared = (from: string, to: string) => new ComparedFile(matching, before.get(from) ?? [], after.get(to) ?? [])
  const files = [...before.keys()].filter((path) => after.has(path)).map((path) => compared(path, path))
  for (const file of files) matchSame(file, 'same_place', 'moved_in_file')
  const renamed = staysInFile ? [] : matchRenamedFiles(matching).map(({ from, to }) => compared(from, to))
  for (const file of renamed) matchSame(file, 'file_renamed', 'file_renamed')
  if (!staysInFile) {
    matchElsewhere(matching, before, after)
    matchOtherLocations(matching)
    matchMovedBlocks(matching, before, after)
  }
  matchReread(matching)
  for (const file of files) matchEdited(file, { same: 'same_place', edited: 'edited_in_place' })
  for (const file of renamed) matchEdited(file, { same: 'file_renamed', edited: 'file_renamed' })
  return matching.matches
}

/** Indexes of findings by path. */
function byPath(findings: readonly TrackedFinding[]): Map<string, number[]> {
  return groupIndexes([...findings.keys()], (index) => findings[index]?.path ?? '')
}

/**
 * Matches findings that moved to another file: those whose text is left only once on each side.
 * Equal findings that moved with them follow.
 */
function matchElsewhere(matching: Matching, before: Paths, after: Paths): void {
  const moves = new Map<string, FilePair>()
  const reported = onlyFree(matching, 'reported')
  for (const [content, from] of onlyFree(matching, 'stored')) {
    const to = reported.get(content)
    if (to === undefined || !matching.match([from, to], 'moved_to_file')) continue
    const pair = { from: matching.stored[from]?.path ?? '', to: matching.reported[to]?.path ?? '' }
    moves.set(`${pair.from}\n${pair.to}`, pair)
  }
  for (const { from, to } of moves.values()) {
    const file = new ComparedFile(matching, before.get(from) ?? [], after.get(to) ?? [])
    matchBlocks(file, collectAnchors(file), 'moved_to_file')
  }
}

/** Matches the findings of blocks that moved to another file, all by the same number of lines. */
function matchMovedBlocks(matching: Matching, before: Paths, after: Paths): void {
  for (const { from, to, offset } of collectMovedBlocks(matching, before, after)) {
    const arrived = groupIndexes(after.get(to) ?? [], (index) => {
      const finding = matching.reported[index] as TrackedFinding
      return `${finding.start_line} ${getPlacedContent(finding)}`
    })
    for (const index of before.get(from) ?? []) {
      const finding = matching.stored[index] as TrackedFinding
      const target = arrived.get(`${(finding.start_line ?? 0) + offset} ${getPlacedContent(finding)}`)?.[0]
      if (target !== undefined) matching.match([index, target], 'moved_to_file')
    }
  }
}

/**
 * Matches findings that are read in another way than before, so that they have another kind or name
 * their package now, or spell it in another way: those that are alone with their rule at their
 * place on each side, or with a message there that names something.
 */
function matchReread(matching: Matching): void {
  matchAlone(
    matching,
    (finding) => JSON.stringify(listPlace(finding)),
    (before, after) =>
      before.kind !== after.kind || (isOfPackage(after) && before.fingerprint_method !== after.fingerprint_method),
  )
  matchAlone(
    matching,
    (finding) => {
      const isNaming = isOfPackage(finding) && parseMessage(finding.message ?? '', finding.path).literals !== ''
      return isNaming ? JSON.stringify([listPlace(finding), finding.message]) : null
    },
    () => true,
  )
}

function listPlace({ path, rule_id, start_line, end_line, start_column, end_column }: TrackedFinding): unknown[] {
  return [path, rule_id, start_line, end_line, start_column, end_column]
}

/** Matches the free findings of a rule that are alone with a key on each side and were reread. */
function matchAlone(
  matching: Matching,
  keyOf: (finding: TrackedFinding) => string | null,
  isReread: (before: TrackedFinding, after: TrackedFinding) => boolean,
): void {
  const [stored, reported] = (['stored', 'reported'] as const).map((side) => ({
    side,
    free: [...matching[side].keys()].filter(
      (index) => matching.isFree(side, index) && matching[side][index]?.rule_id !== null,
    ),
  })) as [SideIndexes, SideIndexes]
  const isStoredLess = stored.free.length <= reported.free.length
  const [less, more] = isStoredLess ? [stored, reported] : [reported, stored]
  if (less.free.length === 0) return
  const byKey = ({ side, free }: SideIndexes) =>
    groupIndexes(free, (index) => keyOf(matching[side][index] as TrackedFinding))
  const keys = byKey(less)
  if (keys.size === 0) return
  const others = byKey(more)
  for (const [key, indexes] of keys) {
    const same = others.get(key) ?? []
    if (indexes.length !== 1 || same.length !== 1) continue
    const pair = (isStoredLess ? [...indexes, ...same] : [...same, ...indexes]) as [number, number]
    const [from, to] = pair
    const [before, after] = [matching.stored[from] as TrackedFinding, matching.reported[to] as TrackedFinding]
    if (isReread(before, after)) matching.match(pair, 'same_place')
  }
}

/** Findings of one side. */
type SideIndexes = { side: Side; free: number[] }

/**
 * Matches findings at several locations of which the first was fixed: the finding is reported at
 * another one of them by now, with the same message (decisions §7). Those that share the most
 * locations come first.
 */
function matchOtherLocations(matching: Matching): void {
  const departed = [...matching.stored.keys()].flatMap((index) => {
    const finding = matching.stored[index] as TrackedFinding
    if (finding.places === null || !matching.isFree('stored', index)) return []
    const what = `${getRule(finding)}\n${getWords(finding)}`
    return listPlaces(finding.places).map((path) => ({ index, key: `${path}\n${what}` }))
  })
  if (departed.length === 0) return
  const rules = new Set(departed.map(({ index }) => getRule(matching.stored[index] as TrackedFinding)))
  const byPlace = Map.groupBy(departed, ({ key }) => key)
  const pairs = [...matching.reported.keys()].flatMap((index) => {
    const finding = matching.reported[index] as TrackedFinding
    if (finding.path === null || !matching.isFree('reported', index) || !rules.has(getRule(finding))) return []
    const paths = new Set([finding.path, ...listPlaces(finding.places ?? '')])
    const left = byPlace.get(`${finding.path}\n${getRule(finding)}\n${getWords(finding)}`) ?? []
    return left.slice(0, PLACED_MAX).flatMap(({ index: from }) => {
      const { path, places } = matching.stored[from] as TrackedFinding
      const shared = listPlaces(places ?? '').filter((place) => paths.has(place)).length
      return path === null || paths.has(path) ? [] : [{ pair: [from, index] as const, shared }]
    })
  })
  for (const { pair } of pairs.sort((a, b) => b.shared - a.shared)) matching.match(pair, 'moved_to_file')
}

/** The findings with one message and location that are compared. */
const PLACED_MAX = 20

function getWords({ message, path }: TrackedFinding): string {
  return parseMessage(message ?? '', path).text
}

/** The free findings with a text that no other free one of the side has, by content. */
function onlyFree(matching: Matching, side: Side): Map<string, number> {
  const free = groupIndexes([...matching[side].keys()], (index) => {
    const finding = matching[side][index] as TrackedFinding
    return matching.isFree(side, index) && hasContent(finding) ? getContent(finding) : null
  })
  return new Map(
    [...free].flatMap(([content, [index, other]]) =>
      index === undefined || other !== undefined ? [] : [[content, index]],
    ),
  )
}
