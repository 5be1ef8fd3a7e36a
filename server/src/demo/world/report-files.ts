import { hash } from 'node:crypto'
import { systemClock } from '../../platform/clock.ts'
import { FileObjectStore } from '../../platform/objects/file-object-store.ts'
import type { Services } from '../../services.ts'
import { type DemoPackage, formatPurl } from './packages.ts'
import type { Advisory, Weakness } from './weaknesses.ts'

export type StoredFile = { path: string; bytes: Buffer; size: number; sha256: string }

export function toFile(path: string, text: string): StoredFile {
  const bytes = Buffer.from(text)
  return { path, bytes, size: bytes.length, sha256: hash('sha256', bytes, 'hex') }
}

/** Stores a file as its sender would. A store elsewhere accepts only addresses of the present. */
export async function saveDemoFile(
  { objects }: Pick<Services, 'objects'>,
  key: string,
  { bytes, size, sha256 }: StoredFile,
  contentType: string,
): Promise<void> {
  const expected = { sizeBytes: size, sha256, contentType }
  if (objects instanceof FileObjectStore)
    return objects.write(
      key,
      expected,
      (async function* () {
        yield bytes
      })(),
    )
  const { url, headers } = await objects.presignPut(key, expected, systemClock.now())
  const response = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) })
  if (!response.ok) throw new Error(`The object store answered ${response.status} to a file of the example data.`)
}

type Bom = {
  name: string
  version: string
  at: Date
  components: readonly DemoPackage[]
  /** Known vulnerabilities of the components; none in a bill of materials. */
  vulnerabilities?: readonly { advisory: Advisory; component: DemoPackage }[]
  tool?: string
}

/** A CycloneDX 1.5 document. */
export function renderCyclonedx({ name, version, at, components, vulnerabilities = [], tool = 'syft' }: Bom): string {
  return JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      version: 1,
      metadata: {
        timestamp: at.toISOString(),
        tools: { components: [{ type: 'application', name: tool, version: '1.4.1' }] },
        component: { type: 'application', name, version },
      },
      components: components.map((component) => ({
        'bom-ref': formatPurl(component),
        type: 'library',
        name: component.name.split('/').at(-1),
        version: component.version,
        purl: formatPurl(component),
      })),
      ...(vulnerabilities.length > 0 && { vulnerabilities: vulnerabilities.map(toVulnerability) }),
    },
    null,
    1,
  )
}

function toVulnerability({ advisory, component }: { advisory: Advisory; component: DemoPackage }) {
  const { id, severity, score, title, fixed, cwe } = advisory
  return {
    id,
    source: { name: 'NVD', url: `https://nvd.nist.gov/vuln/detail/${id}` },
    ratings: [{ source: { name: 'NVD' }, score, severity, method: 'CVSSv31' }],
    cwes: [cwe],
    description: title,
    recommendation: `Update to ${fixed}.`,
    affects: [{ ref: formatPurl(component) }],
  }
}

type Result = Pick<Weakness, 'rule' | 'severity' | 'score' | 'cwe' | 'title' | 'path' | 'line' | 'code'>

/** A SARIF 2.1.0 report of a scanner. */
export function renderSarif(
  tool: { name: string; version: string },
  results: readonly Result[],
  tags: readonly string[] = [],
): string {
  const rules = [...new Map(results.map((result) => [result.rule, result])).values()]
  return JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { ...tool, semanticVersion: tool.version, rules: rules.map((rule) => toRule(rule, tags)) } },
          results: results.map(toResult),
        },
      ],
    },
    null,
    1,
  )
}

function toRule({ rule, severity, score, cwe, title }: Result, tags: readonly string[]) {
  return {
    id: rule,
    name: rule.split('.').at(-1),
    shortDescription: { text: title },
    fullDescription: { text: `${title}. See CWE-${cwe}.` },
    defaultConfiguration: { level: severity },
    properties: { 'security-severity': score.toFixed(1), tags: ['security', `external/cwe/cwe-${cwe}`, ...tags] },
  }
}

function toResult({ rule, severity, title, path, line, code }: Result) {
  return {
    ruleId: rule,
    level: severity,
    message: { text: title },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path },
          region: { startLine: line, startColumn: 1, endLine: line, snippet: { text: code } },
          contextRegion: { startLine: Math.max(1, line - 1), endLine: line + 1, snippet: { text: `\n${code}\n` } },
        },
      },
    ],
  }
}

const LOCKS: Record<DemoPackage['type'], string> = {
  npm: '/app/package-lock.json',
  maven: '/app/lib/app.jar',
  pypi: '/app/requirements.txt',
  golang: '/app/service',
  deb: '/var/lib/dpkg/status',
}

/** A scan of an image as `grype -o sarif` writes it: a rule for each vulnerability of a package. */
export function renderGrypeSarif(
  image: string,
  known: readonly { advisory: Advisory; component: DemoPackage }[],
): string {
  const found = known.map(({ advisory: { id, severity, score, fixed, title }, component }) => {
    const { type, version } = component
    const name = component.name.replace(/^debian\//, '')
    const path = LOCKS[type]
    const rule = {
      id: `${id}-${name}`,
      name: `${type === 'deb' ? 'Dpkg' : 'Stock'}MatcherExactDirectMatch`,
      shortDescription: { text: `${id} ${severity} vulnerability for ${name} package` },
      fullDescription: { text: title },
      helpUri: 'https://github.com/anchore/grype',
      help: {
        text: `Vulnerability ${id}\nSeverity: ${severity}\nPackage: ${name}\nVersion: ${version}\nFix Version: ${fixed}\nType: ${type}\nLocation: ${path}\nData Namespace: nvd\nLink: [${id}](https://nvd.nist.gov/vuln/detail/${id})`,
      },
      properties: { purls: [formatPurl(component)], 'security-severity': score.toFixed(1) },
    }
    const text = `A ${severity} vulnerability in ${type} package: ${name}, version ${version} was found in image ${image} at: ${path}`
    const place = {
      artifactLocation: { uri: `${image}${path}` },
      region: { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 },
    }
    const level = severity === 'critical' || severity === 'high' ? 'error' : severity === 'medium' ? 'warning' : 'note'
    return { rule, result: { ruleId: rule.id, level, message: { text }, locations: [{ physicalLocation: place }] } }
  })
  const driver = { name: 'grype', version: '0.79.1', informationUri: 'https://github.com/anchore/grype' }
  const rules = found.map(({ rule }) => rule)
  return JSON.stringify({
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { ...driver, rules } }, results: found.map(({ result }) => result) }],
  })
}

/** An SPDX 2.3 document. */
export function renderSpdx(name: string, at: Date, components: readonly DemoPackage[]): string {
  return JSON.stringify(
    {
      spdxVersion: 'SPDX-2.3',
      dataLicense: 'CC0-1.0',
      SPDXID: 'SPDXRef-DOCUMENT',
      name,
      documentNamespace: `https://northlane.example.com/spdx/${name}/${at.getTime()}`,
      creationInfo: { created: `${at.toISOString().slice(0, 19)}Z`, creators: ['Tool: syft-1.4.1'] },
      packages: components.map((component, index) => ({
        SPDXID: `SPDXRef-Package-${index}`,
        name: component.name,
        versionInfo: component.version,
        downloadLocation: 'NOASSERTION',
        licenseConcluded: 'NOASSERTION',
        licenseDeclared: index % 5 === 0 ? 'Apache-2.0' : 'MIT',
        externalRefs: [
          { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: formatPurl(component) },
        ],
      })),
    },
    null,
    1,
  )
}
