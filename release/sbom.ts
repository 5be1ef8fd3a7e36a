import { createHash } from 'node:crypto'
import type { LockedPackage, Resolved } from './lockfile.ts'

/** The package that an SBOM describes, and the time of its commit. */
export type Subject = { name: string; version: string; license: string; sha256: string; at: Date }

/** A CycloneDX 1.6 document. `bundled` is inside of the tarball, `installed` is installed with it. */
export function makeSbom(subject: Subject, installed: Resolved[], bundled: LockedPackage[]) {
  const root = purlOf(subject.name, subject.version)
  const components = new Map(bundled.map((found) => [refOf(found), componentOf(found, 'bundled')]))
  for (const found of installed) components.set(refOf(found), componentOf(found, 'installed'))
  const body = {
    version: 1,
    metadata: {
      timestamp: subject.at.toISOString(),
      component: {
        type: 'application',
        'bom-ref': root,
        ...nameOf(subject.name),
        version: subject.version,
        purl: root,
        licenses: [{ license: { id: subject.license } }],
        hashes: [{ alg: 'SHA-256', content: subject.sha256 }],
      },
    },
    components: [...components.keys()].sort().map((ref) => components.get(ref)),
    dependencies: dependencies(root, installed, bundled),
  }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialNumber(body), ...body }
}

/** The same contents have the same number, so that a release can be made again. */
function serialNumber(body: object): string {
  const hex = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant + hex.slice(17, 20)]
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`
}

function componentOf(found: LockedPackage, how: 'bundled' | 'installed') {
  const { name, version, license, integrity, optional } = found
  const sha512 = integrity?.startsWith('sha512-') ? Buffer.from(integrity.slice(7), 'base64').toString('hex') : null
  return {
    type: 'library',
    'bom-ref': refOf(found),
    ...nameOf(name),
    version,
    scope: optional ? 'optional' : 'required',
    purl: purlOf(name, version),
    ...(license && { licenses: [isExpression(license) ? { expression: license } : { license: { name: license } }] }),
    ...(sha512 && { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    properties: [{ name: 'shiplock:package', value: how }],
  }
}

/** SPDX identifiers and expressions; not "SEE LICENSE IN …" or a sentence. */
const isExpression = (license: string) => /^\(?[\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*\)?$/.test(license)

function dependencies(root: string, installed: Resolved[], bundled: LockedPackage[]) {
  const refs = new Map(installed.map((found) => [found.path, refOf(found)]))
  const edges = new Map<string, Set<string>>([[root, new Set([...refs.values(), ...bundled.map(refOf)])]])
  for (const found of bundled) edges.set(refOf(found), new Set())
  for (const found of installed) {
    const edge = edges.get(refOf(found)) ?? new Set()
    for (const path of found.needs) edge.add(refs.get(path) ?? '')
    edges.set(refOf(found), edge)
  }
  return [...edges].map(([ref, to]) => ({ ref, dependsOn: [...to].filter(Boolean).sort() }))
}

const refOf = ({ name, version }: LockedPackage) => purlOf(name, version)

/** Package URL specification, type npm: a scope is a namespace, and its @ is encoded. */
const purlOf = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

function nameOf(name: string) {
  const [scope, own] = name.split('/')
  return own === undefined ? { name } : { group: scope, name: own }
}
