import packageJson from '../../../package.json' with { type: 'json' }
import { type ExportedComponent, type ExportedSbom, type ExportedVulnerability, ROOT } from './exported-sbom.ts'

/** A document in CycloneDX 1.6. */
export function toCycloneDxSbom(sbom: ExportedSbom): object {
  const { id, repository, created_at, components, vulnerabilities, dependencies } = sbom
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${id}`,
    version: 1,
    metadata: {
      timestamp: created_at,
      tools: { components: [{ type: 'application', name: 'Shiplock', version: packageJson.version }] },
      component: { type: 'application', 'bom-ref': ROOT, name: repository },
    },
    components: components.map(toComponent),
    dependencies: [...dependencies].map(([ref, dependsOn]) => ({ ref, dependsOn })),
    // Of the paths to a component, the shortest is stored.
    compositions: [{ aggregate: 'incomplete', dependencies: [ROOT, ...components.map(({ ref }) => ref)] }],
    ...(vulnerabilities !== null && { vulnerabilities: vulnerabilities.map(toVulnerability) }),
  }
}

/** The types of components that CycloneDX 1.6 knows. */
const CYCLONEDX_TYPES: ReadonlySet<string> = new Set(
  (
    'application framework library container platform operating-system device device-driver firmware file ' +
    'machine-learning-model data cryptographic-asset'
  ).split(' '),
)

function toComponent(component: ExportedComponent): object {
  const { ref, type, namespace, name, version, purl, cpe, supplier, scope, licenses, hashes } = component
  const stated = Object.entries(hashes).flatMap(([algorithm, content]) => {
    const alg = ALGORITHMS[algorithm.replaceAll('-', '').toUpperCase()]?.cyclonedx
    return alg === undefined ? [] : [{ alg, content }]
  })
  return {
    type: CYCLONEDX_TYPES.has(type) ? type : 'library',
    'bom-ref': ref,
    ...(supplier !== null && { supplier: { name: supplier } }),
    ...toGroupAndName(namespace, name),
    ...(version !== null && { version }),
    ...(scope !== null && { scope }),
    ...(stated.length > 0 && { hashes: stated }),
    ...(licenses.length > 0 && { licenses: toLicenses(licenses) }),
    ...(cpe !== null && { cpe }),
    ...(purl !== null && { purl }),
    properties: toProperties(component),
  }
}

/** CycloneDX has the namespace of a package apart, of which names are written in full. */
function toGroupAndName(namespace: string | null, name: string): { group?: string; name: string } {
  const isIn = namespace !== null && /^[:/]./.test(name.slice(namespace.length)) && name.startsWith(namespace)
  return isIn ? { group: namespace, name: name.slice(namespace.length + 1) } : { name }
}

function toLicenses(licenses: readonly string[]): object[] {
  const [only] = licenses
  if (licenses.length === 1 && only !== undefined && isExpression(only)) return [{ expression: only }]
  return licenses.map((name) => ({ license: { name } }))
}

const EXPRESSION =
  /^\(*[A-Za-z0-9.+-]+(?::[A-Za-z0-9.-]+)?\)*(?: (?:AND|OR|WITH) \(*[A-Za-z0-9.+-]+(?::[A-Za-z0-9.-]+)?\)*)*$/

/** Whether a text has the form of an SPDX license expression. */
function isExpression(text: string): boolean {
  return text.length <= EXPRESSION_CHARS_MAX && EXPRESSION.test(text)
}

const EXPRESSION_CHARS_MAX = 1000

function toProperties({ categories, paths }: ExportedComponent): { name: string; value: string }[] {
  return [
    ...categories.map((value) => ({ name: 'shiplock:category', value })),
    ...paths.map((value) => ({ name: 'shiplock:path', value })),
  ]
}

/** Names of hash algorithms, by their letters. */
const ALGORITHMS: Readonly<Record<string, { cyclonedx: string; spdx: string } | undefined>> = Object.fromEntries(
  [
    ['MD5', 'MD5'],
    ['SHA-1', 'SHA1'],
    ['SHA-256', 'SHA256'],
    ['SHA-384', 'SHA384'],
    ['SHA-512', 'SHA512'],
    ['SHA3-256', 'SHA3-256'],
    ['SHA3-384', 'SHA3-384'],
    ['SHA3-512', 'SHA3-512'],
    ['BLAKE3', 'BLAKE3'],
  ].map(([cyclonedx = '', spdx = '']) => [cyclonedx.replaceAll('-', ''), { cyclonedx, spdx }]),
)

function toVulnerability({ id, aliases, severity, state, fixed_version, title, refs }: ExportedVulnerability): object {
  return {
    id,
    ...(aliases.length > 0 && { references: aliases.map((alias) => ({ id: alias, source: { name: 'OSV' } })) }),
    ratings: [{ severity }],
    description: title,
    ...(fixed_version !== null && { recommendation: `Upgrade to ${fixed_version}.` }),
    ...(state === 'dismissed' && { analysis: { state: 'not_affected' } }),
    affects: refs.map((ref) => ({ ref })),
  }
}

const ROOT_ID = 'SPDXRef-Repository'

/** A document in SPDX 2.3. */
export function toSpdxSbom({
  id,
  repository,
  created_at,
  components,
  dependencies,
  vulnerabilities,
}: ExportedSbom): object {
  const ids = new Map([[ROOT, ROOT_ID], ...components.map(({ ref }, index) => [ref, `SPDXRef-${index + 1}`] as const)])
  const found = new Map<string, string[]>()
  for (const { id: vulnerability, refs } of vulnerabilities ?? [])
    for (const ref of refs) found.set(ref, [...(found.get(ref) ?? []), vulnerability])
  const tool = `Tool: Shiplock-${packageJson.version}`
  const created = `${created_at.slice(0, 19)}Z`
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: repository,
    documentNamespace: `urn:uuid:${id}`,
    creationInfo: { created, creators: [tool] },
    packages: [
      { SPDXID: ROOT_ID, name: repository, ...UNKNOWN_ORIGIN },
      ...components.map((component) =>
        toPackage(component, ids.get(component.ref) as string, {
          vulnerabilities: found.get(component.ref) ?? [],
          annotated: { annotator: tool, annotationDate: created },
        }),
      ),
    ],
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: ROOT_ID },
      ...[...dependencies].flatMap(([from, to]) =>
        to.map((ref) => ({
          spdxElementId: ids.get(from),
          relationshipType: 'DEPENDS_ON',
          relatedSpdxElement: ids.get(ref),
        })),
      ),
    ],
  }
}

const UNKNOWN_ORIGIN = { downloadLocation: 'NOASSERTION', filesAnalyzed: false } as const
/** The purposes of packages that SPDX 2.3 knows. */
const PURPOSES: ReadonlySet<string> = new Set([
  ...[
    'application',
    'framework',
    'library',
    'container',
    'operating-system',
    'device',
    'firmware',
    'source',
    'archive',
  ],
  ...['file', 'install', 'other'],
])

type Added = { vulnerabilities: readonly string[]; annotated: { annotator: string; annotationDate: string } }

function toPackage(component: ExportedComponent, SPDXID: string, { vulnerabilities, annotated }: Added): object {
  const { type, name, version, purl, cpe, supplier, licenses, hashes } = component
  const expression = licenses.length === 1 && isExpression(licenses[0] as string) ? licenses[0] : 'NOASSERTION'
  const named = licenses.length > 0 && expression === 'NOASSERTION' ? [`license: ${licenses.join(', ')}`] : []
  const comments = [...toProperties(component).map((property) => `${property.name}: ${property.value}`), ...named]
  const checksums = Object.entries(hashes).flatMap(([stated, checksumValue]) => {
    const algorithm = ALGORITHMS[stated.replaceAll('-', '').toUpperCase()]?.spdx
    return algorithm === undefined ? [] : [{ algorithm, checksumValue }]
  })
  const externalRefs = [
    ...(purl === null ? [] : [toReference('PACKAGE-MANAGER', 'purl', purl)]),
    ...(cpe === null ? [] : [toReference('SECURITY', 'cpe23Type', cpe)]),
    ...vulnerabilities.map((id) =>
      toReference('SECURITY', 'advisory', `https://osv.dev/vulnerability/${encodeURIComponent(id)}`),
    ),
  ]
  return {
    SPDXID,
    name,
    ...(version !== null && { versionInfo: version }),
    ...(supplier !== null && { supplier: `Organization: ${supplier}` }),
    ...UNKNOWN_ORIGIN,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: expression,
    copyrightText: 'NOASSERTION',
    ...(PURPOSES.has(type) && { primaryPackagePurpose: type.toUpperCase() }),
    ...(checksums.length > 0 && { checksums }),
    ...(externalRefs.length > 0 && { externalRefs }),
    ...(comments.length > 0 && {
      annotations: comments.map((comment) => ({ ...annotated, annotationType: 'OTHER', comment })),
    }),
  }
}

function toReference(referenceCategory: string, referenceType: string, referenceLocator: string): object {
  return { referenceCategory, referenceType, referenceLocator }
}
