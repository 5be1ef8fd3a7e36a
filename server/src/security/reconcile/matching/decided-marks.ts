import { isConfiguration } from '../../issues/grouping/weakness-names.ts'
import type { DecidedMark, FindingKind } from '../../vocabulary/finding.ts'
import { type MessageMarks, parseMessage } from '../../vocabulary/message-marks.ts'

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
  if (areTwo(before.package_name, after.package_name)) changed.push('package')
  if (isVersioned && areTwo(before.package_version, after.package_version)) changed.push('version')
  if (isElsewhere && !isRenamed) changed.push('file')
  // The vulnerability of a package is told by its fingerprint, not by a text.
  if (before.package_name !== null && after.package_name !== null) return changed
  changed.push(...compareContent(before, after, said, says))
  if (hasNewLocation([before.path ?? '', ...said.others], [after.path ?? '', ...says.others], isRenamed))
    changed.push('location')
  return changed
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
  if (hasToolFingerprint(before) && hasToolFingerprint(after)) {
    const isMoved = before.relocation !== null && before.relocation === after.relocation
    if (before.fingerprint !== after.fingerprint && !isMoved) changed.unshift('fingerprint')
  } else if (getColumns(before) !== null && getColumns(after) !== null && getColumns(before) !== getColumns(after))
    changed.push('columns')
  return changed
}

/** A finding at several places: the first of them may be fixed, but none may come. */
function hasNewLocation(before: readonly string[], after: readonly string[], isRenamed: boolean): boolean {
  if (before.length === 1 && after.length === 1) return false
  if (isRenamed) return after.length > before.length
  const known = Map.groupBy(before, (path) => path)
  return [...Map.groupBy(after, (path) => path)].some(
    ([path, places]) => places.length > (known.get(path)?.length ?? 0),
  )
}

function readMessage({ description, path }: LookedAt): MessageMarks {
  return parseMessage(description ?? '', path)
}

function areTwo(before: string | null, after: string | null): boolean {
  return before !== null && after !== null && before !== after
}

/** A fingerprint that is made of the message says nothing beside it. */
function hasToolFingerprint({ fingerprint_method: method }: LookedAt): boolean {
  return method !== 'message' && method !== 'snippet'
}

function getColumns({ start_line, end_line, start_column, end_column }: LookedAt): string | null {
  return start_column === null ? null : `${start_column}:${(end_line ?? 0) - (start_line ?? 0)}:${end_column}`
}
