import { type DemoPackage, formatPurl } from '../world/packages.ts'
import type { Advisory } from '../world/weaknesses.ts'

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
