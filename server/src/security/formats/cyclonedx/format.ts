import type { MixedFileFormat } from '../report/file-format.ts'

/** Bills of materials with vulnerabilities, and VEX documents: CycloneDX 1.2 to 1.7 in JSON. */
export const cyclonedx: MixedFileFormat = {
  title: 'CycloneDX',
  marks: {
    texts: [
      ['bomFormat', /^CycloneDX$/],
      ['$schema', /cyclonedx\.org/i],
    ],
    shapes: ['specVersion & components', 'specVersion & vulnerabilities'],
    refusal: ['bomFormat', 'The file is not a CycloneDX document: its `bomFormat` is not "CycloneDX".'],
  },
  otherNotations: [['CycloneDX in XML; write it as JSON', /<bom\b[^>]{0,500}cyclonedx/]],
  loadParser: async () => (await import('./parser.ts')).parseCycloneDx,
  loadVexNotation: async () => {
    const { isVexDocument, parseCycloneDxVex } = await import('./read-statements.ts')
    return { detect: isVexDocument, parse: parseCycloneDxVex }
  },
}
