import {
  getMember,
  type JsonObject,
  toArray,
  toInteger,
  toObject,
  toObjects,
  toText,
} from '../../../platform/json/read-value.ts'
import { NAME_MAX, PATH_MAX, truncateText } from '../../vocabulary/bounded-text.ts'
import { decodePercents } from '../../vocabulary/package-url.ts'
import { isAbsolutePath } from '../report/directory.ts'
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
  /** Texts that may be packages: all logical names, and an address of the form `pkg:…`. */
  packageNames: string[]
  /** What was scanned, such as a web address, by the words of the location. */
  target: string | null
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
  // Nuclei writes what it scanned as the description of the artifact.
  const described = toText(getMember(physical?.artifactLocation, 'description', 'text'))
  const target = described ?? (path === null ? toText(getMember(location, 'message', 'text')) : null)
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
    logicalName: logicalNames(run, location)[0] ?? null,
    packageNames: [...(address === null ? [] : [address]), ...logicalNames(run, location)],
    target: /\s/.test(target?.trim() ?? '') ? null : truncateText(target, PATH_MAX),
  }
}

/**
 * The locations of a result (§3.27.12). If it has none that says where, it is at the end of its
 * flow, else at a related location, else in the target of the analysis.
 */
export function listLocations(result: JsonObject): JsonObject[] {
  const stated = toObjects(result.locations)
  if (stated.some(isSomewhere)) return stated
  const [flow] = toObjects(result.codeFlows)
  const [thread] = toObjects(flow?.threadFlows)
  const end = toObject(toObjects(thread?.locations).at(-1)?.location)
  const target = toObject(result.analysisTarget) && { physicalLocation: { artifactLocation: result.analysisTarget } }
  const candidates = [end, ...toObjects(result.relatedLocations).slice(0, 1), target]
  const found = candidates.find((location) => location !== null && isSomewhere(location))
  return found ? [found] : stated
}

function isSomewhere(location: JsonObject): boolean {
  return toObject(location.physicalLocation) !== null || toObjects(location.logicalLocations).length > 0
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

const LOGICAL_READ_MAX = 10

function logicalNames(run: SarifRun, location: JsonObject): string[] {
  const names = toObjects(toArray(location.logicalLocations).slice(0, LOGICAL_READ_MAX)).map((logical) => {
    const index = toInteger(logical.index, 0)
    return readLogicalName(logical) ?? (index === null ? null : (run.logicalLocations[index] ?? null))
  })
  return names.filter((name) => name !== null && name !== undefined)
}

export function readLogicalName(logical: unknown): string | null {
  return truncateText(toText(getMember(logical, 'fullyQualifiedName')) ?? toText(getMember(logical, 'name')), PATH_MAX)
}

/** What tools write for a result without a file: OpenSSF Scorecard and Black Duck, among others. */
const NO_FILE =
  /^(?:|\.|\/+|file:\/*|no file associated with this alert|not_found_from_package_manager_files|unknown[ _-]file|n\/a|none|null|undefined)$/i

const WORDS_MAX = 2

/** Whether a text is JSON, or a sentence: more words than a file's name, without its extension. */
function isProse(text: string): boolean {
  if (/^(?:\{\s*"|\[\s*[{"\]])/.test(text) || /[\r\n]/.test(text)) return true
  return text.split(/\s+/).length > WORDS_MAX && !/[/\\]|\.\w{1,10}$/.test(text)
}

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
  if (uri === null || NO_FILE.test(uri.trim())) return NOWHERE
  const key = `${uriBaseId?.length ?? ''} ${uriBaseId} ${uri}`
  return run.fileLocations.get(key, () => locateUri(run, uri, uriBaseId))
}

function locateUri(run: SarifRun, uri: string, uriBaseId: string | null): FileLocation {
  const text = uri.replace(ENCODED, decodePercents).trim()
  if (isProse(text)) return { path: null, address: truncateText(text, PATH_MAX) }
  const resolved = resolve(run, uri, uriBaseId)
  const scheme = getScheme(resolved)
  if (scheme !== null && scheme !== 'file') return { path: null, address: truncateText(resolved, PATH_MAX) }
  const path = repositoryPath(run, scheme === 'file' ? filePath(resolved) : resolved)
  // Below a base, `/src/a.c` means `src/a.c`, although §3.4.3 requires a relative reference.
  const isBelowBase = scheme === null && uriBaseId !== null
  const relative = isBelowBase ? path.replace(/^\//, '') : path
  const isBelowTop = run.directory !== '' && !isAbsolutePath(relative)
  return { path: truncateText(isBelowTop ? `${run.directory}/${relative}` : relative, PATH_MAX), address: null }
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
  return run.isImage ? absolute : run.checkout.relative(absolute)
}

/** The absolute directories among these URIs, outermost first. */
export function listDirectories(uris: readonly (string | null)[]): string[] {
  const files = uris.filter((uri) => uri !== null && /^file:/i.test(uri.trim())) as string[]
  const directories = new Set(files.map((uri) => normalized(filePath(uri.trim()))))
  return [...directories].filter((directory) => directory !== '/').sort((a, b) => a.length - b.length)
}

const ENCODED = /(?:%[0-9a-f]{2})+/gi

/** Percent-decoded, with `/` as separator and without `.`, `..` and empty names. */
function normalized(path: string): string {
  const decoded = path
    // Invalid percent-encoding is kept: tools write file names with a bare percent sign.
    .replace(ENCODED, decodePercents)
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
