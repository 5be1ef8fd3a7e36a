import { integerOf, type JsonObject, memberOf, objectOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, PATH_MAX } from '../../vocabulary/bounded-text.ts'
import { type ArtifactPlace, placeOf } from './artifact-path.ts'
import type { ArtifactLocation, SarifRun } from './sarif-run.ts'

/** Where a result is. Lines count from 1. */
export type Place = ArtifactPlace & {
  startLine: number | null
  endLine: number | null
  snippet: string | null
  /** A logical location's name: a function, a package, a cloud resource. */
  logicalName: string | null
}

/** Percent-encoding makes a path up to nine times as long. */
const URI_MAX = 9 * PATH_MAX
/** PostgreSQL's integer ends here. */
const LINE_MAX = 2 ** 31 - 1

/** A location (§3.28). */
export function readPlace(run: SarifRun, location: JsonObject): Place {
  const physical = objectOf(location.physicalLocation)
  const artifact = artifactLocation(physical?.artifactLocation)
  const region = objectOf(physical?.region)
  return {
    ...placeOf(run, artifact),
    ...linesOf(region),
    // cargo-deny has written the text itself where an object belongs.
    snippet: textOf(memberOf(region, 'snippet', 'text')) ?? textOf(region?.snippet),
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

/** A region without an end line ends on the line where it starts (§3.30.7). */
function linesOf(region: JsonObject | null): { startLine: number | null; endLine: number | null } {
  const start = integerOf(region?.startLine, 1)
  if (start === null || start > LINE_MAX) return { startLine: null, endLine: null }
  return { startLine: start, endLine: Math.min(integerOf(region?.endLine, start) ?? start, LINE_MAX) }
}

function logicalName(run: SarifRun, location: JsonObject): string | null {
  const [logical] = objectsOf(location.logicalLocations)
  if (logical === undefined) return null
  const index = integerOf(logical.index, 0)
  const name = logicalLocationName(logical) ?? (index === null ? null : (run.logicalLocations[index] ?? null))
  return name
}

export function logicalLocationName(logical: unknown): string | null {
  return boundedText(textOf(memberOf(logical, 'fullyQualifiedName')) ?? textOf(memberOf(logical, 'name')), PATH_MAX)
}
