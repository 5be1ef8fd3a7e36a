import {
  getMember,
  type JsonObject,
  toInteger,
  toObject,
  toObjects,
  toText,
} from '../../../platform/json/read-value.ts'
import { NAME_MAX, PATH_MAX, truncateText } from '../../vocabulary/bounded-text.ts'
import { decodePercents } from '../../vocabulary/package-url.ts'
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
  const physical = toObject(location.physicalLocation)
  const artifact = readArtifactLocation(physical?.artifactLocation)
  const region = toObject(physical?.region)
  // kube-score writes the line of a resource as its context.
  const isLine = toInteger(region?.startLine, 1) !== null
  const { startLine, endLine } = readLines(isLine ? region : toObject(physical?.contextRegion))
  const { path, address } = getFileLocation(run, artifact)
  return {
    path,
    address,
    startLine,
    endLine,
    startColumn: readColumn(region?.startColumn),
    endColumn: readColumn(region?.endColumn),
    // cargo-deny writes the text instead of an object.
    snippet: toText(getMember(region, 'snippet', 'text')) ?? toText(region?.snippet),
    surroundings: toText(getMember(physical?.contextRegion, 'snippet', 'text')),
    logicalName: logicalName(run, location),
  }
}

export function readArtifactLocation(value: unknown): ArtifactLocation {
  return {
    uri: truncateText(toText(getMember(value, 'uri')), URI_MAX),
    uriBaseId: truncateText(toText(getMember(value, 'uriBaseId')), NAME_MAX),
    index: toInteger(getMember(value, 'index'), 0),
  }
}

/** Without an end line, a region ends on its first line (§3.30.7). */
function readLines(region: JsonObject | null): { startLine: number | null; endLine: number | null } {
  const start = toInteger(region?.startLine, 1)
  if (start === null || start > INTEGER_MAX) return { startLine: null, endLine: null }
  return { startLine: start, endLine: Math.min(toInteger(region?.endLine, start) ?? start, INTEGER_MAX) }
}

function readColumn(value: unknown): number | null {
  const column = toInteger(value, 1)
  return column === null || column > INTEGER_MAX ? null : column
}

function logicalName(run: SarifRun, location: JsonObject): string | null {
  const [logical] = toObjects(location.logicalLocations)
  if (logical === undefined) return null
  const index = toInteger(logical.index, 0)
  return readLogicalName(logical) ?? (index === null ? null : (run.logicalLocations[index] ?? null))
}

export function readLogicalName(logical: unknown): string | null {
  return truncateText(toText(getMember(logical, 'fullyQualifiedName')) ?? toText(getMember(logical, 'name')), PATH_MAX)
}

/** OpenSSF Scorecard writes this for a result without a file. */
const NO_FILE = 'no file associated with this alert'

const NOWHERE: FileLocation = { path: null, address: null }

/** Bases may refer to other bases (§3.14.14). A longer chain is a cycle. */
const BASE_CHAIN_MAX = 20

/** Names of bases that are the top of the repository, without percent signs. */
const ROOT_BASES = new Set(
  'SRCROOT SRC_ROOT SOURCEROOT REPOROOT REPO_ROOT PROJECTROOT PROJECT_ROOT ROOTPATH ROOT_PATH ROOT WORKSPACE'.split(
    ' ',
  ),
)

export function isRootBase(run: SarifRun, id: string): boolean {
  return run.rootBases.has(id) || ROOT_BASES.has(id.replaceAll('%', '').toUpperCase())
}

/**
 * The place of an artifactLocation (§3.4): by its own URI, else by its index into the run's
 * artifacts.
 */
export function getFileLocation(run: SarifRun, location: ArtifactLocation): FileLocation {
  const indexed = location.index === null ? undefined : run.artifacts[location.index]
  const { uri, uriBaseId } = location.uri === null && indexed !== undefined ? indexed : location
  if (uri === null || uri === NO_FILE) return NOWHERE
  const key = `${uriBaseId?.length ?? ''} ${uriBaseId} ${uri}`
  return run.fileLocations.get(key, () => locateUri(run, uri, uriBaseId))
}

function locateUri(run: SarifRun, uri: string, uriBaseId: string | null): FileLocation {
  const resolved = resolve(run, uri, uriBaseId)
  const scheme = getScheme(resolved)
  if (scheme !== null && scheme !== 'file') return { path: null, address: truncateText(resolved, PATH_MAX) }
  const path = repositoryPath(run, scheme === 'file' ? filePath(resolved) : resolved)
  // Below a base, `/src/a.c` means `src/a.c`, although §3.4.3 requires a relative reference.
  const isBelowBase = scheme === null && uriBaseId !== null
  return { path: truncateText(isBelowBase ? path.replace(/^\//, '') : path, PATH_MAX), address: null }
}

/** Adds the URIs of the bases up to the top of the repository, an absolute or an unknown base. */
function resolve(run: SarifRun, uri: string, uriBaseId: string | null): string {
  let resolved = uri.trim()
  let baseId = uriBaseId
  for (let steps = 0; baseId !== null && getScheme(resolved) === null && steps < BASE_CHAIN_MAX; steps++) {
    const base: ArtifactLocation | undefined = run.uriBases.get(baseId)
    const baseUri = base?.uri?.trim() ?? ''
    const isTop = isRootBase(run, baseId) && (baseUri === '' || getScheme(baseUri) !== null)
    if (isTop && !isInsideAnotherRoot(run, baseUri)) return resolved
    if (baseUri !== '' && baseUri !== 'file:///') {
      resolved = `${baseUri.replace(/\/$/, '')}/${resolved.replace(/^\/+/, '')}`
    }
    baseId = base?.uriBaseId ?? null
  }
  return resolved
}

/** True for SRCROOT at /repo/src if REPOROOT is at /repo: its paths begin with src. */
function isInsideAnotherRoot(run: SarifRun, baseUri: string): boolean {
  const path = getScheme(baseUri) === 'file' ? normalized(filePath(baseUri)) : ''
  return run.rootDirectories.some((root) => path !== root && path.startsWith(`${root}/`))
}

/** The scheme in lower case; null if there is none. A single letter is a Windows drive. */
function getScheme(uri: string): string | null {
  return /^([a-z][a-z0-9+.-]{1,30}):/i.exec(uri)?.[1]?.toLowerCase() ?? null
}

/** The path of a file URI (RFC 8089) without its host: `C:/a` of `file:///C:/a`. */
function filePath(uri: string): string {
  const path = uri.replace(/^file:(?:\/\/[^/\\]*)?/i, '').replace(/^[/\\]+(?=[a-z](?::|%3a))/i, '')
  return path === '' ? '/' : path
}

function repositoryPath(run: SarifRun, path: string): string {
  const absolute = normalized(path)
  const root = run.rootDirectories.find((directory) => absolute.startsWith(`${directory}/`))
  if (root !== undefined) return absolute.slice(root.length + 1)
  return run.checkout.relative(absolute)
}

/** The absolute directories among these URIs, outermost first. */
export function listDirectories(uris: readonly (string | null)[]): string[] {
  const files = uris.filter((uri) => uri !== null && /^file:/i.test(uri.trim())) as string[]
  const directories = new Set(files.map((uri) => normalized(filePath(uri.trim()))))
  return [...directories].filter((directory) => directory !== '/').sort((a, b) => a.length - b.length)
}

/** Percent-decoded, with `/` as separator and without `.`, `..` and empty names. */
function normalized(path: string): string {
  const decoded = path
    // Invalid percent-encoding is kept: tools write file names with a bare percent sign.
    .replace(/(?:%[0-9a-f]{2})+/gi, decodePercents)
    .replaceAll('\\', '/')
    // Windows does not distinguish the letters of drives, and tools write both.
    .replace(/^[a-z](?=:\/)/, (drive) => drive.toUpperCase())
  const names: string[] = []
  for (const name of decoded.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return (decoded.startsWith('/') ? '/' : '') + names.join('/')
}
