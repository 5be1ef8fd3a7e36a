import { boundedText, PATH_MAX } from '../../vocabulary/bounded-text.ts'
import { withoutCheckout } from '../report/checkout-path.ts'
import type { ArtifactLocation, SarifRun } from './sarif-run.ts'

/** Where an artifact is: a path, or for what is no file (a web page, an image) its address. */
export type ArtifactPlace = { path: string | null; address: string | null }

/** What OpenSSF Scorecard writes where it has no file. */
const NO_FILE = 'no file associated with this alert'

const NOWHERE: ArtifactPlace = { path: null, address: null }

/** Bases may refer to bases (§3.14.14); a longer chain is a circle. */
const BASE_CHAIN_MAX = 20

/** Names by which tools call the top of the repository, without percent signs. */
const ROOT_BASES = new Set(
  'SRCROOT SRC_ROOT SOURCEROOT REPOROOT REPO_ROOT PROJECTROOT PROJECT_ROOT ROOTPATH ROOT_PATH ROOT WORKSPACE'.split(
    ' ',
  ),
)

export function isRootBase(run: SarifRun, id: string): boolean {
  return run.rootBases.has(id) || ROOT_BASES.has(id.replaceAll('%', '').toUpperCase())
}

/** Resolves an artifactLocation (§3.4): its own URI, else that of the run's artifact with its index. */
export function placeOf(run: SarifRun, location: ArtifactLocation): ArtifactPlace {
  const indexed = location.index === null ? undefined : run.artifacts[location.index]
  const { uri, uriBaseId } = location.uri === null && indexed !== undefined ? indexed : location
  if (uri === null || uri === NO_FILE) return NOWHERE
  const key = `${uriBaseId?.length ?? ''} ${uriBaseId} ${uri}`
  return run.places.get(key, () => placeOfUri(run, uri, uriBaseId))
}

function placeOfUri(run: SarifRun, uri: string, uriBaseId: string | null): ArtifactPlace {
  const resolved = resolve(run, uri, uriBaseId)
  const scheme = schemeOf(resolved)
  if (scheme !== null && scheme !== 'file') return { path: null, address: boundedText(resolved, PATH_MAX) }
  const path = repositoryPath(run, scheme === 'file' ? filePath(resolved) : resolved)
  // Below a base, `/src/a.c` means `src/a.c`: tools write the slash although §3.4.3 wants a relative reference.
  const isBelowBase = scheme === null && uriBaseId !== null
  return { path: boundedText(isBelowBase ? path.replace(/^\//, '') : path, PATH_MAX), address: null }
}

/** Prefixes the bases' URIs until one is the repository's top, absolute or unknown. Percent-encoding is kept. */
function resolve(run: SarifRun, uri: string, uriBaseId: string | null): string {
  let resolved = uri.trim()
  let baseId = uriBaseId
  for (let steps = 0; baseId !== null && schemeOf(resolved) === null && steps < BASE_CHAIN_MAX; steps++) {
    const base: ArtifactLocation | undefined = run.uriBases.get(baseId)
    const baseUri = base?.uri?.trim() ?? ''
    const isTop = isRootBase(run, baseId) && (baseUri === '' || schemeOf(baseUri) !== null)
    if (isTop && !isInsideAnotherRoot(run, baseUri)) return resolved
    resolved = joined(baseUri, resolved)
    baseId = base?.uriBaseId ?? null
  }
  return resolved
}

/** With REPOROOT at /repo and SRCROOT at /repo/src, a path below SRCROOT begins with src. */
function isInsideAnotherRoot(run: SarifRun, baseUri: string): boolean {
  const path = schemeOf(baseUri) === 'file' ? normalized(filePath(baseUri)) : ''
  return run.rootDirectories.some((root) => path !== root && path.startsWith(`${root}/`))
}

function joined(baseUri: string, uri: string): string {
  if (baseUri === '' || baseUri === 'file:///') return uri
  return `${baseUri.replace(/\/$/, '')}/${uri.replace(/^\/+/, '')}`
}

/** The scheme in lower case; a single letter is a Windows drive. */
function schemeOf(uri: string): string | null {
  return /^([a-z][a-z0-9+.-]{1,30}):/i.exec(uri)?.[1]?.toLowerCase() ?? null
}

/** The path of a file URI (RFC 8089), its host dropped: `file:///C:/a` is `C:/a`. */
export function filePath(uri: string): string {
  const path = uri.replace(/^file:(?:\/\/[^/\\]*)?/i, '').replace(/^[/\\]+(?=[a-z](?::|%3a))/i, '')
  return path === '' ? '/' : path
}

function repositoryPath(run: SarifRun, path: string): string {
  const absolute = normalized(path)
  const root = run.rootDirectories.find((directory) => absolute.startsWith(`${directory}/`))
  if (root !== undefined) return absolute.slice(root.length + 1)
  return withoutCheckout(absolute)
}

/** Percent-decoded, with `/` between names, and without `.`, `..` or empty names: a path never climbs out. */
export function normalized(path: string): string {
  const decoded = percentDecoded(path).replaceAll('\\', '/')
  const names: string[] = []
  for (const name of decoded.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return (decoded.startsWith('/') ? '/' : '') + names.join('/')
}

/** What is not valid percent-encoding stays: tools write file names with a bare percent sign. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
