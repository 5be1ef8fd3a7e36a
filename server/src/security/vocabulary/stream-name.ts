import { decodePercents } from './package-url.ts'

/** Names that a tool has had, and the one by which its reports belong together. */
const RENAMED = new Map([
  ['codeql command line toolchain', 'codeql'],
  ['defsec', 'tfsec'],
  ['golang security checks by gosec', 'gosec'],
  ['owasp dependency check', 'dependency check'],
  ['owasp zap', 'zap'],
  ['zap by checkmarx', 'zap'],
  ['snyk infrastructure as code', 'snyk iac'],
  ['bridgecrew', 'checkov'],
  ['r2c', 'semgrep'],
  ['sonarcloud', 'sonarqube'],
])

/**
 * Words at the end of a name that tell editions of one tool apart. Products stay: `Snyk Open
 * Source` and `Snyk Code` find different things.
 */
const EDITION =
  /(?:[ ](?:oss|pro|plus|ce|ee|cli|free|lite|trial|community|enterprise|professional|developer|ultimate|premium|server|edition|version))+$/

/** `1.52.0`, `v3`, `2024.1-beta`, after a separator. */
const VERSION = /(?:^|[ /@:])v?\d[\w.+~-]*(?= |$)/g

/**
 * The name of a tool without version and edition, by which its reports go on in one stream:
 * `semgrep` of `Semgrep OSS` and `semgrep/1.2`.
 */
export function normalizeToolName(tool: string): string {
  const spelled = tool.toLowerCase().replace(/[()[\],]/g, ' ')
  // A hyphen before a number begins a version: `pylint-3.1`.
  const spaced = spelled.replace(/[-_](?=v?\d+\.)/g, ' ').replace(VERSION, ' ')
  const words = spaced
    .replace(/[\s_/:@-]+/g, ' ')
    .trim()
    .replace(EDITION, '')
  return RENAMED.get(words) ?? (words === '' ? tool.toLowerCase().trim() : words)
}

/** Parts of a tag that only say which version it is. */
const OF_VERSION = /^(?:v|r|rc|alpha|beta|pre|preview|snapshot|release|rev|sha|git|g|build|b|pr|latest|[0-9a-f]{7,64})$/

/**
 * An image without registry default, version and digest, which stays the same from build to build.
 * Words in its tag stay, because they name a variant: `nginx:alpine` of
 * `docker.io/library/nginx:1.25-alpine3.19@sha256:…`. Null if nothing is left.
 */
export function normalizeImageName(image: string): string | null {
  const [named = ''] = image.trim().split('@', 1)
  const colon = named.lastIndexOf(':')
  const hasTag = colon > named.lastIndexOf('/')
  const name = (hasTag ? named.slice(0, colon) : named)
    .toLowerCase()
    .replace(/^(?:index\.|registry-1\.)?docker\.io\//, '')
    .replace(/^library\//, '')
  if (name === '' || name === 'sha256') return null
  const words = hasTag ? listWords(named.slice(colon + 1)) : []
  return words.length === 0 ? name : `${name}:${words.join('-')}`
}

function listWords(tag: string): string[] {
  return tag
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => !OF_VERSION.test(part))
    .flatMap((part) => /^[a-z]+/.exec(part)?.[0] ?? [])
    .filter((word) => !OF_VERSION.test(word))
}

/** The beginning of a path, or any part of one of Windows. */
const PATH = /^(?:[./~\\]|[a-z]:[/\\])|\\/i

/** What a bill of materials is about. */
type Subject = { isImage: boolean; name: string | null; purl: string | null }

/**
 * The image or project that a report is about. Null if it states none, or the path of a directory,
 * which differs from machine to machine.
 */
export function normalizeSubject({ isImage, name, purl }: Subject): string | null {
  const image = purl === null ? null : parseImageUrl(purl)
  // The name of an image has the words of its tag, and some tools write only the digest there.
  if (isImage && name !== null && !/^sha256[:@]/.test(name)) return normalizeImageName(name)
  if (image !== null) return normalizeImageName(image)
  return isImage || name === null || PATH.test(name.trim()) ? null : name.trim() || null
}

/** The digests of images in references and package URLs; undefined if there are none. */
export function collectDigests(texts: readonly (string | null)[]): string[] | undefined {
  const found = texts.flatMap(
    (text) =>
      decodePercents(text ?? '')
        .toLowerCase()
        .match(DIGEST) ?? [],
  )
  return found.length === 0 ? undefined : [...new Set(found)]
}

const DIGEST = /\bsha256:[0-9a-f]{64}\b/g

/** The image of a package URL like `pkg:oci/pay@sha256:…?repository_url=ghcr.io/acme/pay&tag=1`. */
function parseImageUrl(purl: string): string | null {
  const [, name = '', query = ''] =
    /^pkg:(?:oci|docker)\/([^@?#]{1,300})[^?#]{0,200}(?:\?([^#]{0,1000}))?/i.exec(purl) ?? []
  if (name === '') return null
  const qualifiers = new URLSearchParams(query)
  const tag = qualifiers.get('tag')
  const repository = qualifiers.get('repository_url') ?? decodePercents(name)
  return tag === null ? repository : `${repository}:${tag}`
}
