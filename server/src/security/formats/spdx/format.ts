import type { ReportFileFormat } from '../report/file-format.ts'

/** Bills of materials with statements about vulnerabilities: SPDX 2.2, 2.3 and 3.0 in JSON. */
export const spdx: ReportFileFormat = {
  title: 'SPDX',
  marks: {
    texts: [
      ['spdxVersion', /^SPDX-/],
      ['@context', /spdx\.org\/rdf\/v?\d/i],
    ],
  },
  otherNotations: [['SPDX in its tag-value form; write it as JSON', /^spdxversion:/]],
  loadParser: async () => (await import('./parser.ts')).parseSpdx,
}
