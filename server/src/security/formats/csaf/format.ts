import type { VexFileFormat } from '../report/file-format.ts'

/** Documents of the profiles VEX and Security Advisory of OASIS CSAF 2.0. */
export const csaf: VexFileFormat = {
  title: 'CSAF',
  marks: { texts: [['document.csaf_version', /^\d/]] },
  loadParser: async () => (await import('./parser.ts')).parseCsaf,
}
