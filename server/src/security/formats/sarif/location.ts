import { integerOf, type JsonObject, memberOf, objectOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, PATH_MAX } from '../../vocabulary/bounded-text.ts'
import { locateFile } from './artifact-path.ts'
import type { ArtifactLocation, FileLocation, SarifRun } from './sarif-run.ts'

/** Where a result is. Lines and columns count from 1. */
export type ResultLocation = FileLocation & {
  startLine: number | null
  endLine: number | null
  startColumn: number | null
  endColumn: number | null
  snippet: string | null
  /** The flagged code with the lines around it. */
  surroundings: string | null
  /** The name of the logical location: a function, a package, a cloud resource. */
  logicalName: string | null
}

/** Percent-encoding makes a path at most nine times as long. */
const URI_MAX = 9 * PATH_MAX
/** The largest integer in PostgreSQL. */
const INTEGER_MAX = 2 ** 31 - 1

/** Reads a location (§3.28). */
export function readLocation(run: SarifRun, location: JsonObject): ResultLocation {
  const physical = objectOf(location.physicalLocation)
  const artifact = artifactLocation(physical?.artifactLocation)
  const region = objectOf(physical?.region)
  // kube-score writes the line of a resource as its context.
  const isLine = integerOf(region?.startLine, 1) !== null
  const { startLine, endLine } = linesOf(isLine ? region : objectOf(physical?.contextRegion))
  const { path, address } = locateFile(run, artifact)
  return {
    path,
    address,
    startLine,
    endLine,
    startColumn: columnOf(region?.startColumn),
    endColumn: columnOf(region?.endColumn),
    // cargo-deny writes the text instead of an object.
    snippet: textOf(memberOf(region, 'snippet', 'text')) ?? textOf(region?.snippet),
    surroundings: textOf(memberOf(physical?.contextRegion, 'snippet', 'text')),
    logicalName: logicalName(run, location),
  }
}

export function artifactLocation(value: unknown): ArtifactLocation {
  return {
    uri: boundedText(textOf(memberOf(value, 'uri')), URI_MAX),
    uriBaseId: boundedText(textOf(memberOf(value, 'uriBaseId')), NAME_MAX),
    index: integerOf(memberOf(value, 'index'), 0),
  }
}

/** Without an end line, a region ends on its first line (§3.30.7). */
function linesOf(region: JsonObject | null): { startLine: number | null; endLine: number | null } {
  const start = integerOf(region?.startLine, 1)
  if (start === null || start > INTEGER_MAX) return { startLine: null, endLine: null }
  return { startLine: start, endLine: Math.min(integerOf(region?.endLine, start) ?? start, INTEGER_MAX) }
}

function columnOf(value: unknown): number | null {
  const column = integerOf(value, 1)
  return column === null || column > INTEGER_MAX ? null : column
}

function logicalName(run: SarifRun, location: JsonObject): string | null {
  const [logical] = objectsOf(location.logicalLocations)
  if (logical === undefined) return null
  const index = integerOf(logical.index, 0)
  return logicalLocationName(logical) ?? (index === null ? null : (run.logicalLocations[index] ?? null))
}

export function logicalLocationName(logical: unknown): string | null {
  return boundedText(textOf(memberOf(logical, 'fullyQualifiedName')) ?? textOf(memberOf(logical, 'name')), PATH_MAX)
}
