/**
 * How a report was submitted: in the console, through the API, or as an artifact of a CI report.
 */
export const UPLOAD_ORIGINS = ['ui', 'api', 'report'] as const
export type UploadOrigin = (typeof UPLOAD_ORIGINS)[number]

/** What a finding comes from: an alert of a code host, an uploaded report, or a CI report. */
export const FINDING_ORIGINS = ['alert', 'upload', 'report'] as const
export type FindingOrigin = (typeof FINDING_ORIGINS)[number]

/** The origin of the findings of an upload. */
export function findingOrigin(origin: UploadOrigin): FindingOrigin {
  return origin === 'report' ? 'report' : 'upload'
}
