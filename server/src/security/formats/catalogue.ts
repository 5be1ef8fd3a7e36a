import { PROVIDERS, type Provider } from '../../codehosts/catalogue.ts'
import { csaf } from './csaf/format.ts'
import { cyclonedx } from './cyclonedx/format.ts'
import { openvex } from './openvex/format.ts'
import type { MixedFileFormat, ReportFileFormat, VexFileFormat } from './report/file-format.ts'
import { sarif } from './sarif/format.ts'
import { spdx } from './spdx/format.ts'

/**
 * The formats of files that can be uploaded, by their names in the API and in the database. No
 * other file lists them: the enums of the API, detection, readers and texts follow this one.
 */
const REPORTS = { sarif, cyclonedx, spdx } satisfies Record<string, ReportFileFormat>
const VEX_DOCUMENTS = { openvex, csaf } satisfies Record<string, VexFileFormat>
/** Formats of reports of which a file may be a VEX document. Its contents decide. */
const MIXED = { cyclonedx } satisfies Record<string, MixedFileFormat>
const FORMATS = { ...REPORTS, ...VEX_DOCUMENTS }

export type ReportFormat = keyof typeof REPORTS
export type VexFormat = keyof typeof VEX_DOCUMENTS | keyof typeof MIXED
export type UploadFormat = keyof typeof FORMATS

export const REPORT_FORMATS = Object.keys(REPORTS) as readonly ReportFormat[]
export const VEX_FORMATS = Object.keys({ ...VEX_DOCUMENTS, ...MIXED }) as readonly VexFormat[]
export const UPLOAD_FORMATS = Object.keys(FORMATS) as readonly UploadFormat[]

/**
 * Where a finding comes from: the format of its report, the code host of its alert, or the
 * advisories that a component matches.
 */
export type FindingSource = ReportFormat | Provider | 'osv'
export const FINDING_SOURCES: readonly FindingSource[] = [...REPORT_FORMATS, ...PROVIDERS, 'osv']

export function isVexFormat(format: UploadFormat): format is keyof typeof VEX_DOCUMENTS {
  return Object.hasOwn(VEX_DOCUMENTS, format)
}

export function isMixedFormat(format: UploadFormat): format is keyof typeof MIXED {
  return Object.hasOwn(MIXED, format)
}

export function getMixedFormat(format: keyof typeof MIXED): MixedFileFormat {
  return MIXED[format]
}

export function getReportFormat(format: ReportFormat): ReportFileFormat {
  return REPORTS[format]
}

export function getVexFormat(format: keyof typeof VEX_DOCUMENTS): VexFileFormat {
  return VEX_DOCUMENTS[format]
}

export function getFormat(format: UploadFormat): ReportFileFormat | VexFileFormat {
  return FORMATS[format]
}

/** The titles of formats in a sentence: `SARIF, CycloneDX or SPDX`. */
export function formatTitles(formats: readonly UploadFormat[], word: 'and' | 'or'): string {
  const titles = formats.map((format) => getFormat(format).title)
  const last = titles.pop()
  return titles.length === 0 ? `${last}` : `${titles.join(', ')} ${word} ${last}`
}
