import type { Format, SecurityUpload } from './upload-item.ts'

export const UPLOAD_STATUSES = ['pending', 'queued', 'parsing', 'finished', 'failed'] as const satisfies Status[]

type Status = SecurityUpload['status']

export const STATUS_NAMES: Record<Status, string> = {
  pending: 'Pending',
  queued: 'Queued',
  parsing: 'Reading',
  finished: 'Finished',
  failed: 'Failed',
}

export const FORMATS = ['sarif', 'cyclonedx', 'spdx', 'openvex', 'csaf'] as const satisfies Format[]

export const FORMAT_NAMES: Record<Format, string> = {
  sarif: 'SARIF',
  cyclonedx: 'CycloneDX',
  spdx: 'SPDX',
  openvex: 'OpenVEX',
  csaf: 'CSAF',
}

export const ORIGIN_NAMES: Record<SecurityUpload['origin'], string> = {
  ui: 'Console',
  api: 'API',
  report: 'CI report',
}

/** Who sent a report, in words. */
export const LANE_NAMES: Record<SecurityUpload['lanes'][number]['trust'], string> = {
  verified: 'Verified by its token',
  uploaded: 'Sent with an API key',
  self_reported: 'Reported with an API key',
  ui: 'Uploaded by hand',
  untrusted: 'Sent by an untrusted job',
}

export function isBeingRead(upload: SecurityUpload | undefined): boolean {
  return upload?.status === 'queued' || upload?.status === 'parsing'
}
