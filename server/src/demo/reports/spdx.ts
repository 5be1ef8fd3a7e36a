import { type DemoPackage, formatPurl } from '../world/packages.ts'

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
