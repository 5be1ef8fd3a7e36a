import { type JsonObject, toArray, toObject, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { parsePackageUrl } from '../../vocabulary/package-url.ts'
import { collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { normalizeFix } from '../report/dependency-finding.ts'

/** What a report states about a vulnerable package. */
export type PackageFacts = {
  name: string | null
  version: string | null
  fixedVersion: string | null
  purl: string | null
}

export const NO_PACKAGE: PackageFacts = { name: null, version: null, fixedVersion: null, purl: null }

/** Names of facts in lines, tables and properties, in lower case and without separators. */
const FACTS = new Map<string, keyof PackageFacts>(
  Object.entries({
    name: 'package packagename pkgname component componentname vulnerablecomponent vulnerablepackage vulnerablemodule vulnerabledependency affectedpackage affectedcomponent dependency dependencyname library libraryname module',
    version: 'version installedversion packageversion componentversion currentversion libraryversion detectedversion',
    fixedVersion:
      'fixedversion fixedversions fixversion fixversions fixedin fix patchedversion patchedversions firstpatchedversion',
    purl: 'purl purls packageurl packagepurl',
  }).flatMap(([fact, names]) => names.split(' ').map((name) => [name, fact as keyof PackageFacts])),
)

function findFact(name: string): keyof PackageFacts | undefined {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '')
  return FACTS.get(plain.replace(/^blackduck/, ''))
}

const TEXT_READ_MAX = 16 * 1024
const LINES_MAX = 400

/** `Installed Version: 1.0`, also with the marks and columns of Markdown and of Docker Scout. */
const LINE = /^[ \t>*-]*([A-Za-z][A-Za-z ]{1,40}?)[ \t]*(?:\*\*)?:(?:\*\*)?[ \t]+(\S.{0,400})$/

/**
 * The package facts in the lines and tables of a message or help text, and in the sentences of
 * OSV-Scanner, Grype, govulncheck, Semgrep and others.
 */
export function parsePackageFacts(text: string | null): PackageFacts {
  if (text === null) return NO_PACKAGE
  const read = text.slice(0, TEXT_READ_MAX)
  const stated = new Map<keyof PackageFacts, string>()
  const state = (name: string, value: string) => {
    const fact = findFact(name)
    // `**name**`, `` `name` `` and `[name](address)` are `name`.
    const linked = /^\[([^[\]]{1,300})\]\(/.exec(value)?.[1] ?? value
    const shown = linked.replace(/[*`]{1,3}/g, '').trim()
    if (fact !== undefined && shown !== '' && !stated.has(fact)) stated.set(fact, shown)
  }
  let header: string[] = []
  for (const line of read.split(/\r?\n/, LINES_MAX)) {
    const cells = splitRow(line)
    const [, name, value] = LINE.exec(line) ?? []
    if (cells.length === 2) state(cells[0] as string, cells[1] as string)
    else if (cells.length > 2) {
      if (header.length === cells.length) for (const [at, cell] of cells.entries()) state(header[at] as string, cell)
      else if (cells.some((cell) => findFact(cell) === 'name')) header = cells
    } else if (name !== undefined && value !== undefined) state(name, value)
  }
  return mergeFacts([toFacts(stated), parseSentences(read)])
}

/** The cells of a row of a Markdown table; none for other lines and for the rule below a header. */
function splitRow(line: string): string[] {
  const row = line.trim()
  if (!row.startsWith('|') || /^[|:\s-]*$/.test(row)) return []
  return row
    .slice(1, row.endsWith('|') ? -1 : undefined)
    .split('|', 20)
    .map((cell) => cell.trim())
}

function toFacts(stated: ReadonlyMap<keyof PackageFacts, string>): PackageFacts {
  const fact = (name: keyof PackageFacts) => stated.get(name) ?? null
  const named = mergeFacts([parsePackageName(fact('purl')), parsePackageName(fact('name'))])
  return bounded({
    name: named.name ?? fact('name'),
    version: named.version ?? fact('version'),
    fixedVersion: fact('fixedVersion'),
    purl: named.purl,
  })
}

const SENTENCES = [
  /\bPackage '([^'\n]{1,300})@([^'@\n]{1,100})' is vulnerable\b/,
  / package: ([^\s,]{1,300}), version ([^\s,]{1,100}) was found\b/,
  /\bintroduces a vulnerable ([^\s]{1,300}) package\b/,
  // govulncheck: Your code calls vulnerable functions in 1 package (golang.org/x/net/http2).
  /\b\d{1,4} (?:vulnerable )?(?:packages?|modules?) \(([^\s(),]{1,300})/,
  // Semgrep: golang.org/x/crypto < 0.17.0 is vulnerable to …; Affected versions of lodash are …
  /^(?:[A-Z]{2,8}-[\w-]{3,40}(?: -|:) )?([\w@][\w@./:+-]{1,200}) (?:[<>=]{1,2} ?|before |prior to )v?\d[^\s,]{0,60}(?:, ?[<>=]{1,2} ?v?\d[^\s,]{0,60})? (?:is|are) (?:vulnerable|affected)\b/,
  /^(?:affected |vulnerable )?versions of (?:the )?(?:package )?[`'"]?([\w@][\w@./:+-]{1,200})[`'"]?,? (?:package )?(?:(?:before|prior to|up to|from|[<>=]{1,2}) [^.\n]{0,20}\d[\w.+~-]{0,40},? )?(?:is|are) (?:vulnerable|affected)\b/i,
  // Malicious package colors 1.4.1; Vulnerable component phpmailer 5.2.17 (CVE-2016-10033)
  /\b(?:vulnerable|malicious) (?:component|package|library|dependency|module):? [`'"]?(@?[\w][\w./:+-]{0,200})[`'"]?(?:[ @]|,? version )v?(\d[\w.+~:-]{0,100})/i,
  /\b(?:vulnerable|malicious) (?:component|package|library|dependency|module):? [`'"](@?[\w][\w./:+-]{0,200})[`'"]/i,
  /\b(?:component|package|library|dependency|module):? [`'"]?(@?[\w][\w./:+-]{0,200})[`'"]?(?:[ @]|,? version )v?(\d[\w+~:-]{0,60}\.[\w.+~:-]{0,100})/i,
  // log4j-core 2.14.1 has CVE-2021-44228; lodash@4.17.20 is affected by …; rack 2.0.0: …
  /^[`'"]?(@?[\w][\w./:+-]{0,200})[`'"]?(?:[ @]|,? version )v?(\d[\w.+~:-]{0,100})[`'"]?(?::? (?:has|have|contains|is (?:vulnerable|affected)|was found)\b|: )/,
  // Xray: [CVE-2022-25878] protobufjs 6.11.2
  /^\[[A-Z][\w:-]{3,60}\] (@?[\w][\w./:+-]{0,200}) v?(\d[\w.+~:-]{0,100})$/m,
  // Mend: CVE-2021-44228 (Critical) detected in log4j-core-2.14.1.jar
  / detected in ([\w.+-]{1,200}?)-v?(\d[\w.]{0,60})\.(?:jar|tgz|whl|gem|nupkg|dll)\b/,
  /\b(?:in|for|of|dependency|package|module) [`'"]?(@?[\w][\w./-]{0,200})@v?(\d[\w.+~-]{0,100})/,
]

const PURL = /\bpkg:[a-z0-9.+-]{1,50}\/[^\s'"`,;()<>|]{1,500}/i

function parseSentences(text: string): PackageFacts {
  for (const sentence of SENTENCES) {
    const [, name, version] = sentence.exec(text) ?? []
    if (name !== undefined)
      return mergeFacts([parsePackageName(name), bounded({ ...NO_PACKAGE, name, version: withoutStop(version) })])
  }
  return parsePackageName(withoutStop(PURL.exec(text)?.[0]))
}

function withoutStop(text: string | undefined): string | null {
  return text?.replace(/[.:]$/, '') ?? null
}

/** The package facts in a package URL, or in `name@version` as Snyk writes it. */
export function parsePackageName(text: string | null): PackageFacts {
  if (text === null || text.length > NAME_MAX + VERSION_MAX) return NO_PACKAGE
  const purl = parsePackageUrl(text)
  if (purl !== null) return bounded({ ...NO_PACKAGE, name: purl.name, version: purl.version, purl: text.trim() })
  // The digest of an image is no version.
  const match = /^(@?[^@\s]+)@(?!sha256:)([^@\s/]+)$/.exec(text.trim())
  return match === null ? NO_PACKAGE : bounded({ ...NO_PACKAGE, name: match[1] ?? null, version: match[2] ?? null })
}

/** The package that properties of a result or rule name, also in an object. */
export function readPackageProperties(properties: JsonObject | null): PackageFacts {
  const stated = new Map<keyof PackageFacts, string>()
  for (const [name, value] of Object.entries(properties ?? {}).slice(0, PROPERTIES_MAX)) {
    const fact = findFact(name)
    if (fact === undefined) continue
    const object = toObject(value)
    const text = fact === 'fixedVersion' ? toTexts(value).join(', ') : (toTexts(value)[0] ?? toText(object?.name) ?? '')
    const version = toText(object?.version)
    if (text !== '' && !stated.has(fact)) stated.set(fact, text)
    if (version !== null && !stated.has('version')) stated.set('version', version)
  }
  // Rules have a version of their own.
  if (!stated.has('name') && !stated.has('purl')) stated.delete('version')
  return toFacts(stated)
}

const PROPERTIES_MAX = 100

/**
 * The package in a rule id that begins with a vulnerability: `CVE-2021-44228:log4j-core:2.14.1`.
 */
export function parseRulePackage(ruleId: string | null): PackageFacts {
  const [id] = collectVulnerabilityIds([ruleId ?? ''])
  if (ruleId === null || id === undefined || !ruleId.toUpperCase().startsWith(id.toUpperCase())) return NO_PACKAGE
  const separator = ruleId.charAt(id.length)
  const end = ruleId.lastIndexOf(separator)
  const [name, version] = [ruleId.slice(id.length + 1, end), ruleId.slice(end + 1)]
  const isPair = /[:_]/.test(separator) && name !== '' && /\d/.test(version)
  return isPair ? bounded({ ...NO_PACKAGE, name, version }) : NO_PACKAGE
}

const FLOWS_MAX = 10
const STEPS_MAX = 10_000

/**
 * The last module with a version in the flows of a result. govulncheck ends them in the vulnerable
 * one.
 */
export function readFlowPackage(result: JsonObject): PackageFacts {
  for (const flow of toObjects(toArray(result.codeFlows).slice(0, FLOWS_MAX))) {
    for (const thread of toObjects(toArray(flow.threadFlows).slice(0, FLOWS_MAX))) {
      const modules = toObjects(toArray(thread.locations).slice(-STEPS_MAX)).map(({ module }) => toText(module))
      const facts = parsePackageName(modules.findLast((module) => module?.includes('@')) ?? null)
      if (facts.name !== null) return facts
    }
  }
  return NO_PACKAGE
}

/**
 * The version after the name of a package in the flagged line, as in `go.mod`; null for a range.
 */
export function findVersionInText(text: string | null, name: string | null): string | null {
  const at = text === null || name === null ? -1 : text.indexOf(name)
  if (text === null || name === null || at < 0) return null
  const rest = text.slice(at + name.length, at + name.length + VERSION_MAX)
  return truncateText(/^["']?[ \t]*(?:[:=]{1,2}[ \t]*["']?)?(v?\d[\w.+~-]{0,80})/.exec(rest)?.[1] ?? null, VERSION_MAX)
}

/** Files in which package managers declare or lock dependencies, in lower case. */
const MANIFESTS = new Set(
  `package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb bower.json deno.json
  deno.lock composer.json composer.lock pom.xml build.gradle build.gradle.kts gradle.lockfile libs.versions.toml ivy.xml
  build.sbt go.mod go.sum gopkg.lock cargo.toml cargo.lock gemfile gemfile.lock gems.locked requirements.txt pipfile
  pipfile.lock pyproject.toml poetry.lock uv.lock pdm.lock pylock.toml setup.py setup.cfg environment.yml
  packages.config packages.lock.json project.assets.json directory.packages.props paket.lock paket.dependencies
  pubspec.yaml pubspec.lock mix.exs mix.lock rebar.lock podfile podfile.lock package.swift package.resolved
  cartfile.resolved conanfile.txt conanfile.py conan.lock vcpkg.json renv.lock stack.yaml.lock cabal.project.freeze
  deps.edn project.clj module.bazel build.cake`
    .split(/\s+/)
    .filter((name) => name !== ''),
)
const MANIFEST =
  /(?:^requirements[\w.-]*\.(?:txt|in)|\.(?:csproj|fsproj|vbproj|gemspec|cabal|podspec|nuspec|jar|war|ear|whl|nupkg|gem))$/

/** Whether a path is the file of a package or one that names packages. */
export function isManifest(path: string | null): boolean {
  const name = path?.slice(path.lastIndexOf('/') + 1).toLowerCase() ?? ''
  return MANIFESTS.has(name) || MANIFEST.test(name)
}

/** Takes each fact from the first source that states it. */
export function mergeFacts(sources: readonly PackageFacts[]): PackageFacts {
  const first = (fact: keyof PackageFacts) => sources.find((facts) => facts[fact] !== null)?.[fact] ?? null
  return { name: first('name'), version: first('version'), fixedVersion: first('fixedVersion'), purl: first('purl') }
}

function bounded(facts: PackageFacts): PackageFacts {
  return {
    name: truncateText(facts.name, NAME_MAX),
    version: truncateText(facts.version, VERSION_MAX),
    fixedVersion: normalizeFix(facts.fixedVersion),
    purl: truncateText(facts.purl, NAME_MAX + VERSION_MAX),
  }
}
