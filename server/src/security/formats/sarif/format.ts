import type { ReportFileFormat } from '../report/file-format.ts'

/** The results of scanners of every kind: OASIS SARIF 2.1.0. */
export const sarif: ReportFileFormat = {
  title: 'SARIF',
  marks: { texts: [['$schema', /\bsarif\b/i]], lists: ['runs'] },
  loadParser: async () => (await import('./parser.ts')).parseSarif,
}
