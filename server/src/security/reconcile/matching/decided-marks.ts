import { isConfiguration } from '../../issues/grouping/weakness-names.ts'
import type { DecidedMark, FindingKind } from '../../vocabulary/finding.ts'
import { type MessageMarks, parseMessage } from '../../vocabulary/message-marks.ts'
import { collectVulnerabilityIds, removeDistribution } from '../../vocabulary/vulnerability-id.ts'

/** What somebody looked at who decided about a finding. Hashes are hex. */
export type LookedAt = {
  kind: FindingKind
  path: string | null
  start_line: number | null
  end_line: number | null
  start_column: number | null
  end_column: number | null
  package_name: string | null
  package_version: string | null
  vuln_ids: string[]
  resource_name: string | null
  fingerprint: string
  fingerprint_method: string
  relocation: string | null
  context: string | null
  description: string | null
}

/** `isVersioned`: the decision is about one version of a package. */
type Comparison = { isRenamed: boolean; isVersioned: boolean }

/**
 * What differs between what was looked at and what is reported now (decisions §7, "A decision
 * stays"). A mark that one side lacks is no difference.
 */
export function listChangedMarks(
  before: LookedAt,
  after: LookedAt,
  { isRenamed, isVersioned }: Comparison,
): DecidedMark[] {
  const changed: DecidedMark[] = []
  const [said, says] = [readMessage(before), readMessage(after)]
  // Of several locations, the first may have been fixed.
  const isElsewhere = areTwo(before.path, after.path) && !said.others.includes(after.path ?? '')
  // A message that is the same and names the package is only read in another way.
  const isNamed =
    before.description === after.description && readName(after.description).includes(readName(after.package_name))
  if (areTwo(before.package_name, after.package_name) && !isNamed) changed.push('package')
  if (isVersioned && areTwo(before.package_version, after.package_version)) changed.push('version')
  if (isElsewhere && !isRenamed) changed.push('file')
  if (before.package_name === null || after.package_name === null)
    changed.push(...compareContent(before, after, said, says))
  else if (isOtherVulnerability(before, after, said, says)) changed.push('message')
  if (hasNewLocation(toPlaces(before, said), toPlaces(after, says), isRenamed)) changed.push('location')
  return changed
}

/**
 * Of one package, whether another vulnerability is reported: one with other ids, or in other words
 * if no ids are known. The numbers in a message are versions.
 */
function isOtherVulnerability(before: LookedAt, after: LookedAt, said: MessageMarks, says: MessageMarks): boolean {
  const [known, ids] = [listVulnerabilities(before), listVulnerabilities(after)]
  if (known.length > 0 && ids.length > 0) return !ids.some((id) => known.includes(id))
  // The ids of an unchanged message were not read by earlier versions.
  if (ids.length > 0) return said.text !== says.text
  return said.sentence !== says.sentence || listNames(said) !== listNames(says)
}

/** A description may mention others beside the one that the report states. */
function listVulnerabilities({ vuln_ids, description }: LookedAt): string[] {
  return (vuln_ids.length > 0 ? vuln_ids : collectVulnerabilityIds([description ?? ''])).map(removeDistribution)
}

function listNames({ literals }: MessageMarks): string {
  const names = literals.split(' ')
  return names.filter((name) => !/\d/.test(name)).join(' ')
}

function compareContent(before: LookedAt, after: LookedAt, said: MessageMarks, says: MessageMarks): DecidedMark[] {
  const isReworded = said.text !== says.text
  if (isConfiguration(before) && before.resource_name !== null && before.resource_name === after.resource_name)
    return isReworded ? ['message'] : []
  if (before.context !== null && after.context !== null) {
    if (before.context !== after.context) return ['text']
    return said.literals === says.literals ? [] : ['message']
  }
  const changed: DecidedMark[] = isReworded ? ['message'] : []
  const { fingerprint_method: method } = before
  // A fingerprint that is made of the message says nothing beside it.
  if (method === after.fingerprint_method && method !== 'message' && method !== 'snippet') {
    // Of a secret that is not shown, only its fingerprint tells it from another one.
    const isShown = before.kind !== 'secret' || before.context !== null || after.context !== null
    const isMoved = isShown && before.relocation !== null && before.relocation === after.relocation
    if (before.fingerprint !== after.fingerprint && !isMoved) changed.unshift('fingerprint')
  } else if (
    areTwo(before.start_column, after.start_column) ||
    areTwo(before.end_column, after.end_column) ||
    areTwo(countLines(before), countLines(after))
  )
    changed.push('columns')
  return changed
}

/** The files of a finding's locations, and the number of those that are not listed. */
type Places = { paths: string[]; unlisted: number }

function toPlaces({ path }: LookedAt, { others, unlisted }: MessageMarks): Places {
  return { paths: [path ?? '', ...others], unlisted }
}

/** A finding at several places: the first of them may be fixed, but none may come. */
function hasNewLocation(before: Places, after: Places, isRenamed: boolean): boolean {
  const [count, countNow] = [before.paths.length + before.unlisted, after.paths.length + after.unlisted]
  if (count === 1 && countNow === 1) return false
  if (isRenamed || before.unlisted > 0 || after.unlisted > 0) return countNow > count
  const known = Map.groupBy(before.paths, (path) => path)
  return [...Map.groupBy(after.paths, (path) => path)].some(
    ([path, places]) => places.length > (known.get(path)?.length ?? 0),
  )
}

function readMessage({ description, path }: LookedAt): MessageMarks {
  return parseMessage(description ?? '', path)
}

/** `group:artifact` of Maven is `group/artifact` in package URLs. */
function readName(text: string | null): string {
  return (text ?? '').replaceAll(':', '/').toLowerCase()
}

function areTwo<Mark extends string | number>(before: Mark | null, after: Mark | null): boolean {
  return before !== null && after !== null && before !== after
}

/** Only beside columns: without them, tools differ in the lines that they state. */
function countLines({ start_line, end_line, start_column, end_column }: LookedAt): number | null {
  const isPlaced = start_column !== null && end_column !== null
  return isPlaced && start_line !== null && end_line !== null ? end_line - start_line : null
}
